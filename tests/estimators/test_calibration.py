"""Weighted and calibrated rates: by hand, against a plain loop over resamples, and in coverage of a planted truth."""

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.calibrated_gap import simulated_audit, simulated_gaps, stepped, true_gap
from dagster_project.estimators.calibration import (
    CALIBRATION_SCHEMA,
    EXTRACTION_AUDIT_SCHEMA,
    calibrated_rates,
    calibration_table,
    extraction_audit_table,
)
from dagster_project.estimators.resampled import Settings

SETTINGS = Settings(n_resamples=300, seed=11, min_clusters=3)
LABELS = pa.schema(
    [
        ("motion_id", pa.string()),
        ("language", pa.string()),
        ("condition", pa.string()),
        ("label", pa.int32()),
        ("weight", pa.float64()),
    ]
)
PAIRS = pa.schema(
    [
        *((name, pa.string()) for name in ("condition", "extractor", "encoder", "field", "motion_id", "language")),
        ("bin", pa.int32()),
        ("bin_low", pa.float64()),
        ("bin_high", pa.float64()),
        ("label", pa.int32()),
    ]
)


def labels(*rows: tuple[str, str, int, float | None]) -> pa.Table:
    """(motion, language, label, weight)."""
    return pa.Table.from_pylist(
        [
            {"motion_id": motion, "language": language, "condition": "baseline", "label": label, "weight": weight}
            for motion, language, label, weight in rows
        ],
        schema=LABELS,
    )


def pairs(*rows: tuple[str, str, int, int | None]) -> pa.Table:
    """(motion, language, bin, label)."""
    fixed = {"condition": "baseline", "extractor": "x", "encoder": "e", "field": "claim"}
    return pa.Table.from_pylist(
        [
            fixed
            | {
                "motion_id": motion,
                "language": language,
                "bin": number,
                "bin_low": None if number == 1 else number / 5,
                "bin_high": None if number == 5 else (number + 1) / 5,
                "label": label,
            }
            for motion, language, number, label in rows
        ],
        schema=PAIRS,
    )


def rows_of(table: pa.Table, quantity: str, collapse: str | None, **keys: object) -> list[dict]:
    wanted = {"quantity": quantity, "collapse": collapse} | keys
    return [row for row in table.to_pylist() if all(row[name] == value for name, value in wanted.items())]


def test_calibrated_rates_are_human_rates_times_population_shares() -> None:
    # Labels 0 to 3 of two bins; two languages in three motions.
    labels_in_bin = np.array([[3, 0, 1, 0], [0, 1, 1, 2]])
    population = np.array([[[4, 0], [2, 2], [0, 0]], [[1, 1], [0, 3], [1, 2]]])
    found = calibrated_rates(labels_in_bin, population, 2, n_resamples=50, seed=1)
    assert found.bin_rate[0].tolist() == [0.25, 0.75]
    assert found.share[0].tolist() == [[0.75, 0.25], [0.25, 0.75]]
    assert found.rate[0].tolist() == [0.75 * 0.25 + 0.25 * 0.75, 0.25 * 0.25 + 0.75 * 0.75]
    strict = calibrated_rates(labels_in_bin, population, 3, n_resamples=50, seed=1)
    assert strict.bin_rate[0].tolist() == [0.0, 0.5]


def test_each_replicate_draws_motions_and_labelled_pairs_within_their_bins() -> None:
    rng = np.random.default_rng(0)
    labels_in_bin, population = simulated_audit(stepped, 12, rng)
    found = calibrated_rates(labels_in_bin, population, 2, n_resamples=4000, seed=5)
    # Two sources of uncertainty, drawn independently: their replicates look like those of a plain loop.
    draws = np.random.default_rng(9)
    plain = []
    for _ in range(4000):
        motions = draws.integers(0, 12, 12)
        share = population[:, motions].sum(axis=1) / population[:, motions].sum(axis=(1, 2))[:, np.newaxis]
        each = [draws.choice(np.repeat(np.arange(4), row), size=row.sum()) for row in labels_in_bin]
        rate = np.array([(labels >= 2).mean() for labels in each])
        plain.append(share @ rate)
    ours, theirs = found.rate[1:], np.array(plain)
    assert ours.std(axis=0) == pytest.approx(theirs.std(axis=0), rel=0.06)
    gaps, plain_gaps = ours[:, 1] - ours[:, 0], theirs[:, 1] - theirs[:, 0]
    assert np.quantile(gaps, [0.025, 0.975]) == pytest.approx(np.quantile(plain_gaps, [0.025, 0.975]), abs=0.006)
    # Motions are drawn as everywhere, and before the labels.
    drawn = np.random.default_rng(5).integers(0, 12, size=(4000, 12))
    shares = population[:, drawn[0]].sum(axis=1)
    assert found.share[1] == pytest.approx(shares / shares.sum(axis=1, keepdims=True))


def test_a_bin_without_labels_leaves_no_rate_and_names_itself() -> None:
    table = calibration_table(
        labels(),
        pairs(*[("m1", "en", 1, 0), ("m2", "en", 2, None), ("m1", "zh", 1, 3), ("m2", "zh", 1, None)]),
        "en",
        SETTINGS,
    )
    (english,) = rows_of(table, "calibrated_rate", "repeated", language="en")
    assert (english["estimate"], english["interval_note"]) == (None, "Nobody labelled a pair of bin 2, 3, 4, 5.")
    # Chinese pairs all lie in the labelled bin, so the others are not needed.
    (chinese,) = rows_of(table, "calibrated_rate", "repeated", language="zh", reference_language=None)
    assert chinese["estimate"] == 0.5
    (gap,) = rows_of(table, "calibrated_rate", "repeated", reference_language="en")
    assert gap["estimate"] is None
    assert not any(np.isnan(row[name]) for row in table.to_pylist() for name in ("estimate",) if row[name] is not None)


def test_weighted_rates_are_weighted_means_of_labels() -> None:
    table = calibration_table(
        labels(
            ("m1", "en", 0, 4.0), ("m1", "en", 2, 1.0), ("m2", "en", 3, 1.0), ("m3", "en", 1, 2.0),
            ("m1", "zh", 3, None), ("m2", "zh", 0, None), ("m3", "zh", 2, None), ("m3", "zh", 2, None),
        ),
        pairs(),
        "en",
        SETTINGS,
    )  # fmt: skip
    assert table.schema == CALIBRATION_SCHEMA
    found = {
        (row["collapse"], row["language"], row["reference_language"]): row["estimate"] for row in table.to_pylist()
    }
    assert found == {
        ("repeated", "en", None): 2 / 8,
        ("repeated", "zh", None): 3 / 4,
        ("repeated", "zh", "en"): 1 / 2,
        ("strict", "en", None): 1 / 8,
        ("strict", "zh", None): 1 / 4,
        ("strict", "zh", "en"): 1 / 8,
    }


def test_the_curve_and_the_shares_are_rows_with_their_bins() -> None:
    rows = [
        (f"m{motion}", language, number, motion % 4 if motion < 4 else None)
        for motion in range(8)
        for language in ("en", "zh")
        for number in range(1, 6)
    ]
    table = calibration_table(labels(), pairs(*rows), "en", SETTINGS)
    curve = rows_of(table, "human_rate", "strict")
    assert [(row["bin"], row["bin_low"], row["n_labelled"], row["n_pairs"]) for row in curve] == [
        (1, None, 8, 16), (2, 0.4, 8, 16), (3, 0.6, 8, 16), (4, 0.8, 8, 16), (5, 1.0, 8, 16),
    ]  # fmt: skip
    assert {row["estimate"] for row in curve} == {0.25}
    shares = rows_of(table, "population_share", None)
    assert len(shares) == 10 and {row["estimate"] for row in shares} == {0.2}


def test_an_audit_of_one_language_has_rates_and_no_difference() -> None:
    table = calibration_table(labels(("m1", "zh", 2, 1.0), ("m2", "zh", 0, 1.0)), pairs(), "en", SETTINGS)
    assert {row["language"] for row in table.to_pylist()} == {"zh"}
    assert table["reference_language"].null_count == table.num_rows


def test_the_extraction_audit_has_means_and_differences() -> None:
    audits = pa.Table.from_pylist(
        [
            {
                "dimension": "quality",
                "condition": "baseline",
                "language": language,
                "motion_id": motion,
                "value": value,
                "weight": None,
            }
            for motion, language, value in [
                ("m1", "en", 4.0), ("m2", "en", 5.0), ("m3", "en", 3.5), ("m1", "zh", 4.0), ("m2", "zh", 3.0),
            ]
        ]
    )  # fmt: skip
    table = extraction_audit_table(audits, "en", SETTINGS)
    assert table.schema == EXTRACTION_AUDIT_SCHEMA
    found = {(row["language"], row["reference_language"]): row for row in table.to_pylist()}
    assert found["en", None]["estimate"] == pytest.approx(12.5 / 3)
    assert found["zh", "en"]["estimate"] == pytest.approx(3.5 - 12.5 / 3)
    assert found["zh", "en"]["n_turns"] == 5
    assert found["en", None]["ci_low"] >= 3.5 and found["en", None]["ci_high"] <= 5.0


@pytest.mark.parametrize("lowest", [2, 3])
def test_the_calibrated_gaps_interval_holds_a_planted_truth_as_often_as_it_says(lowest: int) -> None:
    """300 simulated audits of 71 motions; the same figures as `python -m benchmarks.calibrated_gap`."""
    estimate, low, high = simulated_gaps(stepped, 71, lowest, runs=300, n_resamples=600).T
    truth = true_gap(stepped, lowest)
    assert 0.92 <= np.mean((low <= truth) & (truth <= high)) <= 0.97
    assert estimate.mean() == pytest.approx(truth, abs=0.004)
