import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dagster_project.estimators.bootstrap import resample_counts
from dagster_project.estimators.resampled import Settings
from dagster_project.estimators.tails import PERCENTILES, tail_rates_table

SETTINGS = Settings(n_resamples=300, seed=42)


def pairs(n_motions: int = 25, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        [
            {
                "motion_id": f"M{motion:02}",
                "language": language,
                "value": rng.normal(0.7 + 0.05 * (language == "zh"), 0.1),
            }
            for motion in range(n_motions)
            for language in ("ar", "en", "zh")
            for _ in range(int(rng.integers(3, 20)))
        ]
    )
    return frame.assign(condition="baseline", extractor="x", encoder="e", field="claim", scorer="e")


def table(frame: pd.DataFrame) -> list[dict]:
    return tail_rates_table(pa.Table.from_pandas(frame, preserve_index=False), "en", SETTINGS).to_pylist()


def test_rates_and_their_intervals_are_those_of_resampled_rows() -> None:
    frame = pairs()
    found = {(row["language"], row["percentile"], row["quantity"]): row for row in table(frame)}
    assert len(found) == 2 * 3 * len(PERCENTILES)
    both = frame[frame["language"].isin(["en", "zh"])]
    motions = np.sort(both["motion_id"].unique())
    counts = resample_counts(len(motions), 300, np.random.default_rng(42))
    for percentile in PERCENTILES:
        threshold = np.percentile(both["value"], percentile)
        tail = both.assign(tail=both["value"] >= threshold)
        row = found["zh", percentile, "difference"]
        assert row["threshold"] == pytest.approx(threshold)
        rates = tail.groupby("language")["tail"].mean()
        assert row["estimate"] == pytest.approx(rates["zh"] - rates["en"])
        assert found["zh", percentile, "rate"]["estimate"] == pytest.approx(rates["zh"])
        assert found["zh", percentile, "reference_rate"]["estimate"] == pytest.approx(rates["en"])
        replicates = []
        for draw in counts:
            drawn = pd.concat(
                [tail[tail["motion_id"] == m] for m, n in zip(motions, draw, strict=True) for _ in range(n)]
            )
            resampled = drawn.groupby("language")["tail"].mean()
            replicates.append(resampled["zh"] - resampled["en"])
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(np.quantile(replicates, [0.025, 0.975]))


def test_without_the_reference_language_there_are_no_tails() -> None:
    frame = pairs()
    assert table(frame[frame["language"] != "en"]) == []


def test_equal_values_are_all_in_the_tail_and_say_that_resampling_tells_nothing() -> None:
    for row in table(pairs().assign(value=0.5)):
        assert row["estimate"] == (0.0 if row["quantity"] == "difference" else 1.0)
        assert row["ci_low"] is None
        assert row["interval_note"]


def test_values_that_rounding_tells_apart_are_on_the_same_side_of_the_threshold() -> None:
    frame = pairs()
    frame["value"] = np.where(frame["language"] == "zh", 1.0 - 2**-52, 1.0)
    assert {row["estimate"] for row in table(frame) if row["quantity"] != "difference"} == {1.0}
