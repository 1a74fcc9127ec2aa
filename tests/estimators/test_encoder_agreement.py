import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import spearmanr

from dagster_project.estimators.bootstrap import resample_counts
from dagster_project.estimators.encoder_agreement import encoder_agreement_table
from dagster_project.estimators.resampled import Settings

SETTINGS = Settings(n_resamples=200, seed=42)


def turns(seed: int = 2) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for motion in range(22):
        for turn in range(2, 9):
            level = rng.normal()
            for encoder in ("e", "f"):
                value = round(level + rng.normal(), 1)
                rows.append({"motion_id": f"M{motion:02}", "session_id": f"s{motion}", "turn_index": turn})
                rows[-1] |= {"encoder": encoder, "mean_arg_max_prev": value}
    return pd.DataFrame(rows).assign(language="en", condition="baseline", extractor="x", field="claim")


def test_the_correlation_and_its_interval_are_those_of_scipy_on_resampled_motions() -> None:
    frame = turns()
    (row,) = encoder_agreement_table(pa.Table.from_pandas(frame, preserve_index=False), SETTINGS).to_pylist()
    wide = frame.pivot_table(index=["motion_id", "turn_index"], columns="encoder", values="mean_arg_max_prev")
    assert row["n_turns"] == len(wide) == 154
    assert row["estimate"] == pytest.approx(spearmanr(wide["e"], wide["f"]).statistic)
    motions = wide.index.get_level_values(0).unique()
    replicates = []
    for draw in resample_counts(22, 200, np.random.default_rng(42)):
        drawn = pd.concat([wide.loc[[m]] for m, n in zip(motions, draw, strict=True) for _ in range(n)])
        replicates.append(spearmanr(drawn["e"], drawn["f"]).statistic)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(np.quantile(replicates, [0.025, 0.975]))


def test_a_turn_that_one_encoder_lacks_is_left_out() -> None:
    frame = turns().iloc[1:]
    (row,) = encoder_agreement_table(pa.Table.from_pandas(frame, preserve_index=False), SETTINGS).to_pylist()
    assert row["n_turns"] == 153


def test_equal_similarities_have_no_rank_correlation_and_say_so() -> None:
    frame = turns().assign(mean_arg_max_prev=0.5)
    (row,) = encoder_agreement_table(pa.Table.from_pandas(frame, preserve_index=False), SETTINGS).to_pylist()
    assert row["estimate"] is None
    assert "equally similar" in row["interval_note"]
