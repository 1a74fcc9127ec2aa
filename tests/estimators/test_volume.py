"""Output volume against SciPy's bootstrap with the same draws, and where nothing changes."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import bootstrap

from dagster_project.estimators.resampled import Settings
from dagster_project.estimators.volume import OUTPUT_VOLUME_SCHEMA, output_volume_table

SETTINGS = Settings(n_resamples=1_000, seed=42)


def volumes(amounts: np.ndarray, reference: np.ndarray, **changes: object) -> list[dict]:
    about = {
        "measure": "n_arguments",
        "language": "zh",
        "condition": "diversity",
        "reference_condition": "baseline",
        "extractor": "x",
    } | changes
    rows = [
        about | {"motion_id": f"M{number:02}", "amount": float(amount), "reference_amount": float(before)}
        for number, (amount, before) in enumerate(zip(amounts, reference, strict=True))
    ]
    table = output_volume_table(pa.Table.from_pylist(rows), SETTINGS)
    assert table.schema.equals(OUTPUT_VOLUME_SCHEMA)
    return table.to_pylist()


def test_the_interval_is_that_of_scipy_with_the_same_draws() -> None:
    rng = np.random.default_rng(3)
    reference, amounts = rng.normal(3.8, 0.2, 40), rng.normal(3.7, 0.2, 40)
    (row,) = volumes(amounts, reference)
    by_scipy = bootstrap(
        (amounts - reference,), np.mean, n_resamples=1_000, method="percentile", rng=np.random.default_rng(42)
    ).confidence_interval
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((by_scipy.low, by_scipy.high), abs=1e-12)
    assert row["estimate"] == pytest.approx(amounts.mean() - reference.mean())
    assert (row["mean_amount"], row["reference_mean_amount"]) == pytest.approx((amounts.mean(), reference.mean()))
    assert (row["n_motions"], row["interval_status"]) == (40, "ok")


def test_a_measure_without_an_extractor_keeps_its_row() -> None:
    (row,) = volumes(np.arange(4.0), np.ones(4), measure="text_length", extractor=None)
    assert (row["extractor"], row["measure"], row["interval_status"]) == (None, "text_length", "too_few_clusters")


def test_nothing_that_changes_anywhere_has_no_interval_but_a_reason() -> None:
    (row,) = volumes(np.full(25, 5.0), np.full(25, 5.0))
    assert (row["estimate"], row["ci_low"], row["interval_status"]) == (0.0, None, "no_interval")
    assert "resampling cannot tell" in row["interval_note"]


def test_one_motion_has_an_estimate_and_no_interval() -> None:
    (row,) = volumes(np.array([4.0]), np.array([3.0]))
    assert (row["estimate"], row["ci_high"], row["n_motions"]) == (1.0, None, 1)
    assert "Only one motion" in row["interval_note"]
