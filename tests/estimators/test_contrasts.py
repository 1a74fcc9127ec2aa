"""From the mart motion_contrasts to gap_estimates: grouping, NULLs, flags and order."""

import numpy as np
import pyarrow as pa
import pytest

from dagster_project.estimators.bootstrap import cluster_bootstrap_means
from dagster_project.estimators.contrasts import (
    GAP_ESTIMATES_SCHEMA,
    MOTION_CONTRASTS_SCHEMA,
    estimate_contrasts,
)

SETTINGS = {"n_resamples": 2_000, "seed": 42, "confidence": 0.95, "min_clusters": 20}
KEYS = GAP_ESTIMATES_SCHEMA.names[:12]

LANGUAGE_GAP = {
    "contrast": "language_gap",
    "language": "zh",
    "reference_language": "en",
    "condition": "baseline",
    "reference_condition": None,
    "agent": None,
    "reference_agent": None,
    "extractor": "GPT",
    "encoder": "bge-m3",
    "field": "claim",
    "variant": "raw",
    "aggregate": "agent_mean",
}
AGENT_GAP = LANGUAGE_GAP | {"contrast": "agent_gap", "agent": "Mistral"}
AGENT_CONTRAST = LANGUAGE_GAP | {"contrast": "agent_contrast", "agent": "Mistral", "reference_agent": "GPT"}
CONDITION_EFFECT = LANGUAGE_GAP | {
    "contrast": "condition_effect",
    "reference_language": None,
    "condition": "diversity",
    "reference_condition": "baseline",
}
GAP_REDUCTION = CONDITION_EFFECT | {"contrast": "gap_reduction", "reference_language": "en"}
ALL_KINDS = [LANGUAGE_GAP, AGENT_GAP, AGENT_CONTRAST, CONDITION_EFFECT, GAP_REDUCTION]


def differences(n_motions, seed=0):
    values = np.random.default_rng(seed).normal(0.047, 0.05, size=n_motions)
    return {f"m{index:03d}": value for index, value in enumerate(values)}


def mart(*contrasts):
    """The mart from (key, {motion_id: difference}) pairs."""
    rows = [
        key | {"motion_id": motion, "difference": difference}
        for key, by_motion in contrasts
        for motion, difference in by_motion.items()
    ]
    as_queried = pa.schema([field.with_nullable(True) for field in MOTION_CONTRASTS_SCHEMA])
    return pa.Table.from_pylist(rows, schema=as_queried)


def estimates(*contrasts, **settings):
    return estimate_contrasts(mart(*contrasts), **(SETTINGS | settings)).to_pylist()


def test_a_row_holds_the_bootstrap_of_its_differences_in_the_order_of_motion_ids():
    by_motion = differences(71)
    (row,) = estimates((LANGUAGE_GAP, by_motion))
    expected = cluster_bootstrap_means(np.array(list(by_motion.values()))[:, np.newaxis], n_resamples=2_000, seed=42)
    assert row == LANGUAGE_GAP | {
        "estimate": expected.estimate[0],
        "ci_low": expected.ci_low[0],
        "ci_high": expected.ci_high[0],
        "ci_excludes_zero": True,
        "n_motions": 71,
        "n_resamples": 2_000,
        "seed": 42,
        "interval_status": "ok",
        "interval_note": None,
    }
    assert row["estimate"] == pytest.approx(np.mean(list(by_motion.values())), abs=1e-14)


def test_all_kinds_of_contrasts_equal_a_loop_over_pandas_groups():
    contrasts = [
        (key | {"language": language, "encoder": encoder}, differences(n_motions, seed))
        for seed, (key, language, encoder, n_motions) in enumerate(
            (key, language, encoder, n_motions)
            for key in ALL_KINDS
            for language, n_motions in (("ru", 70), ("zh", 71))
            for encoder in ("bge-m3", "labse")
        )
    ]
    table = mart(*contrasts)
    result = estimate_contrasts(table, **SETTINGS).to_pandas().set_index(KEYS)
    groups = table.to_pandas().sort_values("motion_id").groupby(KEYS, dropna=False)["difference"]
    assert len(result) == len(groups) == len(contrasts)
    for key, values in groups:
        row = result.loc[key]
        drawn = np.random.default_rng(42).integers(0, len(values), size=(2_000, len(values)))
        expected = np.percentile(values.to_numpy()[drawn].mean(axis=1), [2.5, 97.5])
        np.testing.assert_allclose([row["ci_low"], row["ci_high"]], expected, rtol=0, atol=1e-14)
        assert row["n_motions"] == len(values)
        assert row["estimate"] == pytest.approx(values.mean(), abs=1e-14)


def test_contrasts_that_differ_only_by_a_null_are_different_contrasts():
    pooled, mistral, against_gpt = LANGUAGE_GAP, LANGUAGE_GAP | {"agent": "Mistral"}, AGENT_CONTRAST
    rows = estimates((pooled, {"m1": 0.1, "m2": 0.1}), (mistral, {"m1": 0.2, "m2": 0.2}), (against_gpt, {"m1": 0.3}))
    assert {(row["agent"], row["reference_agent"]): round(row["estimate"], 12) for row in rows} == {
        (None, None): 0.1,
        ("Mistral", None): 0.2,
        ("Mistral", "GPT"): 0.3,
    }


def test_neither_the_order_of_rows_nor_the_other_contrasts_change_a_contrast():
    contrasts = [(key, differences(71, seed)) for seed, key in enumerate(ALL_KINDS)]
    table = mart(*contrasts)
    expected = estimate_contrasts(table, **SETTINGS)
    shuffled = table.take(np.random.default_rng(1).permutation(len(table)))
    assert estimate_contrasts(shuffled, **SETTINGS).equals(expected)
    alone = [estimate_contrasts(mart(contrast), **SETTINGS) for contrast in contrasts]
    assert pa.concat_tables(alone).sort_by([(key, "ascending") for key in KEYS]).equals(expected)


def test_rows_are_sorted_by_contrast_with_null_keys_last():
    rows = estimates(*[(key, {"m1": 0.1}) for key in [LANGUAGE_GAP, LANGUAGE_GAP | {"agent": "GPT"}, AGENT_CONTRAST]])
    assert [(row["contrast"], row["agent"]) for row in rows] == [
        ("agent_contrast", "Mistral"),
        ("language_gap", "GPT"),
        ("language_gap", None),
    ]


def test_the_table_has_the_written_schema_and_no_nan():
    table = estimate_contrasts(
        mart((LANGUAGE_GAP, differences(25)), (AGENT_GAP, {"m1": 0.1}), (AGENT_CONTRAST, {"m1": None})), **SETTINGS
    )
    assert table.schema == GAP_ESTIMATES_SCHEMA
    values = [value for row in table.to_pylist() for value in row.values() if isinstance(value, float)]
    assert np.isfinite(values).all()


def test_differences_that_are_rounding_are_no_gap():
    (row,) = estimate_contrasts(
        mart((LANGUAGE_GAP, dict.fromkeys(differences(30), -(2.0**-52)))), **SETTINGS
    ).to_pylist()
    assert (row["estimate"], row["ci_low"], row["ci_high"], row["ci_excludes_zero"]) == (0, 0, 0, False)


def test_ten_motions_have_an_interval_and_a_warning():
    (row,) = estimates((LANGUAGE_GAP, differences(10)))
    assert row["ci_low"] < row["estimate"] < row["ci_high"]
    assert row["ci_excludes_zero"] is not None
    assert row["interval_status"] == "too_few_clusters"
    assert row["interval_note"] == "Only 10 motions: below 20, percentile intervals tend to be too narrow."


def test_one_motion_has_an_estimate_and_a_reason_instead_of_an_interval():
    (row,) = estimates((LANGUAGE_GAP, {"m1": 0.125}))
    assert row["estimate"] == 0.125
    assert (row["ci_low"], row["ci_high"], row["ci_excludes_zero"]) == (None, None, None)
    assert row["interval_status"] == "no_interval"
    assert row["interval_note"] == "Only one motion: resampling motions needs at least two, so there is no interval."


def test_a_null_difference_is_an_absent_motion():
    with_null = differences(71) | {"m030": None}
    without = {motion: value for motion, value in with_null.items() if value is not None}
    (row,) = estimates((LANGUAGE_GAP, with_null))
    assert row["n_motions"] == 70
    assert [row] == estimates((LANGUAGE_GAP, without))


def test_a_contrast_without_any_motion_keeps_its_row_and_says_why_it_is_empty():
    rows = estimates((LANGUAGE_GAP, {"m1": 0.25, "m2": 0.25}), (AGENT_GAP, {"m1": None, "m2": None}))
    empty, full = rows
    assert empty["contrast"] == "agent_gap"
    assert (empty["estimate"], empty["ci_low"], empty["ci_high"], empty["ci_excludes_zero"]) == (None,) * 4
    assert (empty["n_motions"], empty["interval_status"]) == (0, "no_interval")
    assert empty["interval_note"].startswith("No motion has both sides")
    assert (full["estimate"], full["n_motions"], full["interval_status"]) == (0.25, 2, "too_few_clusters")


def test_an_empty_mart_gives_an_empty_table():
    table = estimate_contrasts(mart(), **SETTINGS)
    assert len(table) == 0
    assert table.schema == GAP_ESTIMATES_SCHEMA


def test_columns_may_come_in_any_order_and_with_wider_types():
    table = mart(*[(key, differences(71, seed)) for seed, key in enumerate(ALL_KINDS)])
    wide = pa.table(
        {
            name: table[name].cast(pa.large_string()) if name != "difference" else table[name]
            for name in reversed(table.column_names)
        }
    ).append_column("unused", pa.nulls(len(table)))
    assert estimate_contrasts(wide, **SETTINGS).equals(estimate_contrasts(table, **SETTINGS))


def test_a_missing_column_is_named():
    with pytest.raises(ValueError, match="lacks the columns agent, motion_id"):
        estimate_contrasts(mart((LANGUAGE_GAP, {"m1": 0.1})).drop_columns(["agent", "motion_id"]), **SETTINGS)


def test_two_rows_for_one_contrast_and_motion_are_named():
    table = mart((LANGUAGE_GAP, {"m1": 0.1, "m2": 0.2}), (LANGUAGE_GAP, {"m2": 0.3}), (AGENT_GAP, {"m2": 0.1}))
    with pytest.raises(ValueError, match=r"2 rows are contrast 'language_gap'.* motion_id 'm2'; average"):
        estimate_contrasts(table, **SETTINGS)


@pytest.mark.parametrize("name", ["contrast", "language", "aggregate", "motion_id"])
def test_a_null_where_a_value_is_required_is_named(name):
    table = mart((LANGUAGE_GAP, {"m1": 0.1, "m2": 0.2}))
    column = pa.array([table[name][0].as_py(), None], pa.string())
    with pytest.raises(ValueError, match=f"motion_contrasts.{name} must not be NULL.* difference 0.2"):
        estimate_contrasts(table.set_column(table.column_names.index(name), name, column), **SETTINGS)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_difference_that_is_not_finite_is_named(value):
    with pytest.raises(ValueError, match=r"must be finite or NULL, but it is not in .* motion_id 'm2'"):
        estimate_contrasts(mart((LANGUAGE_GAP, {"m1": 0.1, "m2": value})), **SETTINGS)
