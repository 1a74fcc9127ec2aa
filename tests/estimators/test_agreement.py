"""Agreement: against scikit-learn, statsmodels and krippendorff, and by hand where nothing can be computed."""

import krippendorff
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from dagster_project.estimators.agreement import (
    AGREEMENT_SCHEMA,
    agreement_table,
    cohen_kappa,
    coincidences,
    confusion_tables,
    exact_agreement,
    krippendorff_alpha,
)
from dagster_project.estimators.resampled import Settings, item_counts

SETTINGS = Settings(n_resamples=40, seed=3)
VALUES = np.arange(4.0)
two_raters = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30)


def tables(pairs: list[tuple[int, int]]) -> np.ndarray:
    first, second = np.array(pairs).T
    return confusion_tables(first, second, 4, np.ones((1, len(pairs))))


@given(two_raters)
@settings(max_examples=150, deadline=None)
@pytest.mark.parametrize("weighting", ["none", "linear", "quadratic"])
def test_kappa_equals_scikit_learn_and_statsmodels(weighting: str, pairs: list[tuple[int, int]]) -> None:
    (found,) = cohen_kappa(tables(pairs), VALUES, weighting)
    first, second = zip(*pairs, strict=True)
    if len({*first, *second}) == 1:
        assert np.isnan(found)
        return
    name = None if weighting == "none" else weighting
    assert found == pytest.approx(cohen_kappa_score(first, second, labels=[0, 1, 2, 3], weights=name), abs=1e-12)
    theirs = cohens_kappa(tables(pairs)[0], wt=name, return_results=False)
    assert found == pytest.approx(theirs, abs=1e-12)


def test_a_value_that_nobody_uses_changes_no_weighted_kappa() -> None:
    first, second = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    counts = np.ones((1, 4))
    among_three = cohen_kappa(confusion_tables(first, second, 2, counts), np.array([0.0, 2.0]), "quadratic")
    among_all = cohen_kappa(confusion_tables(first * 2, second * 2, 3, counts), np.array([0.0, 1.0, 2.0]), "quadratic")
    assert among_three == among_all


@given(st.lists(st.lists(st.integers(-1, 3), min_size=3, max_size=3), min_size=1, max_size=20))
@settings(max_examples=200, deadline=None)
@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_alpha_equals_krippendorff_with_gaps_and_three_raters(level: str, ratings: list[list[int]]) -> None:
    table = np.array(ratings)
    (found,) = krippendorff_alpha(coincidences(table, 4).sum(axis=0)[np.newaxis], level)
    used = table[(table >= 0).sum(axis=1) > 1]
    if len(set(used[used >= 0])) < 2:
        assert np.isnan(found)
        return
    data = np.where(table >= 0, table, np.nan).astype(float).T
    theirs = krippendorff.alpha(reliability_data=data, level_of_measurement=level, value_domain=[0, 1, 2, 3])
    assert found == pytest.approx(theirs, abs=1e-10)


def test_a_published_worked_example_of_alpha_comes_out() -> None:
    """Two observers, ten units, binary: the example that Krippendorff (2011) computes by hand, alpha = 0.095."""
    observers = np.array([[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]).T
    (found,) = krippendorff_alpha(coincidences(observers, 2).sum(axis=0)[np.newaxis], "nominal")
    assert found == pytest.approx(0.095, abs=5e-4)


def ratings(*rows: tuple, comparison: str = "annotators", dimension: str = "label", scale: str = "ordinal") -> pa.Table:
    """(item, motion, language, rater, rating) rows."""
    names = ["item", "motion_id", "language", "rater", "rating"]
    fixed = {"comparison": comparison, "judge": None, "dimension": dimension, "scale": scale}
    schema = pa.schema(
        [(n, pa.string()) for n in ("comparison", "judge", "dimension", "scale", *names[:4])] + [("rating", pa.int32())]
    )
    return pa.Table.from_pylist([fixed | dict(zip(names, row, strict=True)) for row in rows], schema=schema)


def measured(table: pa.Table, language: str | None = None) -> dict[str, dict]:
    found = agreement_table(table, SETTINGS)
    assert found.schema == AGREEMENT_SCHEMA
    return {row["measure"]: row for row in found.to_pylist() if row["language"] == language}


def random_ratings(n: int = 60) -> list[tuple]:
    rng = np.random.default_rng(5)
    rows = []
    for item in range(n):
        first = int(rng.integers(0, 4))
        second = int(np.clip(first + rng.integers(-1, 2), 0, 3))
        place = (f"i{item:02d}", f"m{item % 12}", "en" if item % 2 else "zh")
        rows += [(*place, "r1", first), (*place, "r2", second)]
    return rows


def test_every_language_and_the_pool_have_every_measure_with_an_interval() -> None:
    rows = random_ratings()
    table = ratings(*rows)
    for language in (None, "en", "zh"):
        found = measured(table, language)
        assert set(found) == {
            "exact_agreement", "kappa", "kappa_linear", "kappa_quadratic", "pearson", "alpha_ordinal",
        }  # fmt: skip
        of_language = [row for row in rows if language in (None, row[2])]
        first, second = ([row[4] for row in of_language if row[3] == rater] for rater in ("r1", "r2"))
        assert found["kappa_quadratic"]["estimate"] == pytest.approx(
            cohen_kappa_score(first, second, weights="quadratic"), abs=1e-12
        )
        assert all(row["ci_low"] < row["estimate"] < row["ci_high"] for row in found.values())
        assert found["kappa"]["n_items"] == len(first)


def test_the_interval_of_kappa_holds_its_values_on_resampled_motions() -> None:
    rows = random_ratings()
    first, second = (np.array([row[4] for row in rows if row[3] == rater]) for rater in ("r1", "r2"))
    counts, _ = item_counts([row[1] for row in rows if row[3] == "r1"], SETTINGS)
    replicates = [
        cohen_kappa_score(np.repeat(first, row.astype(int)), np.repeat(second, row.astype(int)), labels=[0, 1, 2, 3])
        for row in counts[1:]
    ]
    found = measured(ratings(*rows))["kappa"]
    assert (found["ci_low"], found["ci_high"]) == pytest.approx(tuple(np.quantile(replicates, [0.025, 0.975])))


def test_the_order_of_rows_changes_nothing() -> None:
    rows = random_ratings()
    shuffled = [rows[i] for i in np.random.default_rng(1).permutation(len(rows))]
    assert agreement_table(ratings(*rows), SETTINGS).equals(agreement_table(ratings(*shuffled), SETTINGS))


def test_one_annotator_has_every_measure_with_its_reason_instead_of_a_value() -> None:
    found = measured(ratings(("a", "m1", "en", "r1", 2), ("b", "m2", "en", "r1", 0)))
    assert len(found) == 6
    for row in found.values():
        assert (row["estimate"], row["rater"], row["interval_note"]) == (
            None,
            "r1",
            "Only one rater: agreement needs two.",
        )


def test_annotators_without_a_common_item_and_one_value_only_say_so() -> None:
    apart = measured(ratings(("a", "m1", "en", "r1", 2), ("b", "m2", "en", "r2", 0)))
    assert {(row["estimate"], row["interval_note"]) for row in apart.values()} == {(None, "No item was rated by both.")}
    same = [(item, f"m{item}", "en", rater, 1) for item in "abcd" for rater in ("r1", "r2")]
    found = measured(ratings(*same, dimension="strict", scale="binary"))
    assert set(found) == {"exact_agreement", "kappa", "alpha_nominal"}
    assert found["exact_agreement"]["estimate"] == 1.0
    assert found["exact_agreement"]["ci_low"] is None
    assert found["kappa"]["estimate"] is None and "Only one value" in found["kappa"]["interval_note"]
    assert found["alpha_nominal"]["estimate"] is None


def test_three_annotators_are_compared_pair_by_pair_and_all_at_once() -> None:
    rows = [
        (item, f"m{item}", "en", rater, (number + shift) % 4)
        for number, item in enumerate("abcdefgh")
        for shift, rater in enumerate(("r1", "r2", "r3"))
        if not (rater == "r3" and item == "a")
    ]
    table = agreement_table(ratings(*rows), SETTINGS).to_pylist()
    pooled = [row for row in table if row["language"] is None]
    pairs = {(row["rater"], row["other_rater"]): row["n_items"] for row in pooled if row["measure"] == "kappa"}
    assert pairs == {("r1", "r2"): 8, ("r1", "r3"): 7, ("r2", "r3"): 7}
    (alpha,) = [row for row in pooled if row["measure"] == "alpha_ordinal"]
    assert (alpha["rater"], alpha["n_items"]) == (None, 8)
    assert np.isnan(exact_agreement(np.zeros((1, 2, 2)))).all()


def test_no_rating_gives_an_empty_table() -> None:
    empty = agreement_table(ratings(), SETTINGS)
    assert empty.num_rows == 0 and empty.schema == AGREEMENT_SCHEMA
