import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dagster_project.estimators.repeats import repeat_noise_table
from dagster_project.estimators.resampled import Settings

SETTINGS = Settings(n_resamples=300, seed=42)


def sessions(n_repeats: int = 3, noise: float = 0.02, seed: int = 4) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        [
            {"motion_id": f"M{motion:02}", "language": language, "similarity": level + rng.normal(0, noise)}
            for motion in range(30)
            for language in ("en", "zh")
            for level in [rng.normal(0.7, 0.1)]
            for _ in range(n_repeats)
        ]
    )
    return frame.assign(
        condition="baseline", extractor="x", encoder="e", field="claim", variant="raw", aggregate="agent_mean"
    )


def table(frame: pd.DataFrame) -> dict:
    rows = repeat_noise_table(pa.Table.from_pandas(frame, preserve_index=False), SETTINGS).to_pylist()
    return {row["language"]: row for row in rows}


def test_the_noise_is_the_pooled_spread_within_cells_and_its_interval_holds_the_planted_one() -> None:
    frame = sessions()
    found = table(frame)
    assert set(found) == {None, "en", "zh"}
    variance = frame.groupby(["motion_id", "language"])["similarity"].var(ddof=1)
    assert found[None]["estimate"] == pytest.approx(np.sqrt(variance.mean()))
    assert found["zh"]["estimate"] == pytest.approx(np.sqrt(variance.xs("zh", level=1).mean()))
    assert found[None]["ci_low"] < 0.02 < found[None]["ci_high"]
    assert (found[None]["n_cells"], found[None]["n_sessions"]) == (60, 180)


def test_cells_of_unequal_size_weigh_by_their_degrees_of_freedom() -> None:
    frame = sessions().iloc[1:]
    groups = frame.groupby(["motion_id", "language"])["similarity"]
    expected = np.sqrt((groups.var(ddof=1) * (groups.count() - 1)).sum() / (groups.count() - 1).sum())
    assert table(frame)[None]["estimate"] == pytest.approx(expected)


def test_debates_without_repeats_have_a_reason_in_place_of_a_number() -> None:
    found = table(sessions(n_repeats=1))
    assert all(row["estimate"] is None and "more than once" in row["interval_note"] for row in found.values())
