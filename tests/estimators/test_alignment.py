"""Alignment of instruments with labels, against scipy and scikit-learn, and where nothing can be aligned."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from dagster_project.estimators.alignment import INSTRUMENT_ALIGNMENT_SCHEMA, alignment_table
from dagster_project.estimators.resampled import Settings

SETTINGS = Settings(n_resamples=100, seed=2, min_clusters=5)


def values(rows: list[tuple[str, str, float, int]], instrument: str = "chrf") -> list[dict]:
    """(motion, language, value, label)."""
    return [
        {
            "instrument_kind": "scorer",
            "instrument": instrument,
            "field": "claim",
            "motion_id": motion,
            "language": language,
            "value": value,
            "label": label,
        }
        for motion, language, value, label in rows
    ]


def aligned(rows: list[dict]) -> dict[tuple, dict]:
    table = alignment_table(pa.Table.from_pylist(rows), SETTINGS)
    assert table.schema == INSTRUMENT_ALIGNMENT_SCHEMA
    return {(row["instrument"], row["language"], row["measure"]): row for row in table.to_pylist()}


def test_every_instrument_and_language_has_spearman_and_two_aucs() -> None:
    rng = np.random.default_rng(4)
    label = rng.integers(0, 4, 90)
    cosine = np.round(label / 10 + rng.normal(0.5, 0.2, 90), 2)
    judged = np.clip(label - rng.integers(0, 3, 90), 0, 3).astype(float)
    places = [(f"m{i % 15}", "en" if i % 3 else "zh") for i in range(90)]
    rows = [
        row
        for name, value in (("cosine", cosine), ("judge", judged))
        for row in values([(*place, v, int(y)) for place, v, y in zip(places, value, label, strict=True)], name)
    ]
    found = aligned(rows)
    assert len(found) == 2 * 3 * 3
    for name, value in (("cosine", cosine), ("judge", judged)):
        for language in (None, "en", "zh"):
            there = np.array([language in (None, place[1]) for place in places])
            expected = {
                "spearman": spearmanr(value[there], label[there]).statistic,
                "auc_repeated": roc_auc_score(label[there] >= 2, value[there]),
                "auc_strict": roc_auc_score(label[there] == 3, value[there]),
            }
            for measure, theirs in expected.items():
                row = found[name, language, measure]
                assert row["estimate"] == pytest.approx(theirs, abs=1e-12)
                assert row["ci_low"] <= row["estimate"] <= row["ci_high"]
            assert found[name, language, "auc_strict"]["n_positive"] == (label[there] == 3).sum()


def test_an_empty_class_and_constant_values_have_a_reason_instead_of_a_value() -> None:
    rows = values([("m1", "en", 0.5, 0), ("m2", "en", 0.5, 1), ("m3", "en", 0.5, 2)])
    found = aligned(rows)
    assert found["chrf", None, "spearman"]["estimate"] is None
    assert "equal" in found["chrf", None, "spearman"]["interval_note"]
    assert found["chrf", None, "auc_strict"]["estimate"] is None
    assert "one side" in found["chrf", None, "auc_strict"]["interval_note"]
    # Equal values cannot tell a repeated pair from another: half right.
    assert found["chrf", None, "auc_repeated"]["estimate"] == 0.5


def test_without_labels_there_is_an_empty_table() -> None:
    schema = pa.schema(
        [(n, pa.string()) for n in ("instrument_kind", "instrument", "field", "motion_id", "language")]
        + [("value", pa.float64()), ("label", pa.int32())]
    )
    assert alignment_table(schema.empty_table(), SETTINGS).num_rows == 0
