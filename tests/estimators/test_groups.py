"""Groups against a reference group: by hand, against scipy, and with a planted difference."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from dagster_project.estimators.groups import group_gaps_table
from dagster_project.estimators.resampled import Settings

SETTINGS = Settings(n_resamples=500, seed=3)
MEASURE = {"attribute": "model_id", "extractor": "x", "encoder": "e", "field": "claim", "variant": "raw"}


def similarities(*rows: tuple[str, str, str, float | None]) -> pa.Table:
    """The mart's rows of (session, motion, group, similarity)."""
    names = ("session_id", "motion_id", "value", "similarity")
    schema = pa.schema([*((name, pa.string()) for name in (*names[:3], *MEASURE)), ("similarity", pa.float64())])
    return pa.Table.from_pylist([{**MEASURE, **dict(zip(names, row, strict=True))} for row in rows], schema=schema)


def test_motions_with_both_groups_are_paired_and_their_debates_averaged_first() -> None:
    table = similarities(
        ("s1", "m", "a", 0.2),
        ("s2", "m", "a", 0.4),
        ("s3", "m", "b", 0.6),
        ("s4", "n", "a", 0.1),
        ("s4", "n", "b", 0.2),
        ("s5", "o", "b", 0.9),
        ("s6", "o", "a", None),
    )
    [gap] = group_gaps_table(table, {"model_id": "a"}, "motion", SETTINGS).to_pylist()
    assert (gap["value"], gap["reference_value"], gap["n_clusters"]) == ("b", "a", 2)
    assert gap["group_mean"] == pytest.approx((0.6 + 0.2) / 2)
    assert gap["estimate"] == pytest.approx(((0.6 - 0.3) + (0.2 - 0.1)) / 2)
    assert gap["interval_status"] == "too_few_clusters"


def test_the_reference_is_the_group_with_the_most_debates_when_none_is_named() -> None:
    table = similarities(("s1", "m", "b", 0.2), ("s2", "m", "b", 0.4), ("s1", "m", "a", 0.6), ("s3", "m", "c", 0.6))
    gaps = group_gaps_table(table, {"model_id": None}, "session", SETTINGS).to_pylist()
    assert [(gap["value"], gap["reference_value"]) for gap in gaps] == [("a", "b"), ("c", "b")]


def test_one_motion_has_an_estimate_and_no_interval_and_says_what_would_give_one() -> None:
    table = similarities(("s1", "m", "a", 0.2), ("s2", "m", "b", 0.5))
    [gap] = group_gaps_table(table, {"model_id": "a"}, "motion", SETTINGS).to_pylist()
    assert gap["estimate"] == pytest.approx(0.3)
    assert gap["ci_low"] is None
    assert "`cluster: session`" in gap["interval_note"]


def test_groups_without_a_common_motion_are_refused_with_the_reason() -> None:
    table = similarities(("s1", "m", "a", 0.2), ("s2", "n", "b", 0.5))
    [gap] = group_gaps_table(table, {"model_id": "a"}, "motion", SETTINGS).to_pylist()
    assert gap["estimate"] is None and gap["n_clusters"] == 0
    assert gap["interval_note"].startswith("No motion has both groups.")


def test_a_reference_that_is_not_there_is_refused_with_the_reason() -> None:
    [gap] = group_gaps_table(similarities(("s", "m", "a", 0.2)), {"model_id": "z"}, "session", SETTINGS).to_pylist()
    assert gap["estimate"] is None
    assert gap["interval_note"] == "There is no debate of group 'z' to compare with."


def test_paired_motions_have_the_interval_that_scipy_gives() -> None:
    rng = np.random.default_rng(5)
    first, second = rng.normal(0.5, 0.1, 30), rng.normal(0.6, 0.1, 30)
    table = similarities(
        *((f"a{i:02}", f"m{i:02}", "a", value) for i, value in enumerate(first)),
        *((f"b{i:02}", f"m{i:02}", "b", value) for i, value in enumerate(second)),
    )
    [gap] = group_gaps_table(table, {"model_id": "a"}, "motion", SETTINGS).to_pylist()
    expected = stats.bootstrap(
        (second - first,), np.mean, n_resamples=500, method="percentile", rng=np.random.default_rng(3)
    ).confidence_interval
    assert (gap["ci_low"], gap["ci_high"]) == pytest.approx(tuple(expected), abs=1e-9)


def test_debates_as_clusters_cover_a_planted_difference_as_often_as_they_say() -> None:
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(150):
        rows = []
        for i in range(60):
            level = rng.normal(0.5, 0.1)
            # A third of the debates have one group, a third the other, a third both, whose values move together.
            if i % 3 != 1:
                rows.append((f"s{i}", "m", "a", level + rng.normal(0, 0.05)))
            if i % 3 != 0:
                rows.append((f"s{i}", "m", "b", level + 0.1 + rng.normal(0, 0.05)))
        table = similarities(*rows)
        [gap] = group_gaps_table(table, {"model_id": "a"}, "session", Settings(n_resamples=200, seed=1)).to_pylist()
        covered += gap["ci_low"] <= 0.1 <= gap["ci_high"]
    # 95 % nominal; fewer than 128 of 150 would be three standard errors below 92 %.
    assert 128 <= covered <= 149
