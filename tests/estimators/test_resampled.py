"""Statistics over rows of counts: against scipy and scikit-learn on the resampled data themselves."""

import warnings

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import roc_auc_score

from dagster_project.estimators.resampled import (
    Settings,
    auc,
    estimated,
    item_counts,
    motion_counts,
    pearson,
    ranks,
    spearman,
    weighted_means,
)

SETTINGS = Settings(n_resamples=60, seed=7, min_clusters=5)


def tied_data(n: int = 40, seed: int = 1):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 6, n) / 10
    labels = np.clip(rng.integers(0, 4, n) + (values > 0.3), 0, 3).astype(float)
    motions = np.array([f"m{index}" for index in rng.integers(0, 8, n)], dtype=object)
    return values, labels, motions


def expanded(counts_row: np.ndarray, *columns: np.ndarray) -> list[np.ndarray]:
    """The resample itself: each item as often as its count says."""
    return [np.repeat(column, counts_row.astype(int)) for column in columns]


def or_nan(statistic, *columns):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return statistic(*columns)


def test_the_first_row_is_the_data_and_the_others_draw_whole_motions() -> None:
    _, _, motions = tied_data()
    counts, n_motions = item_counts(motions, SETTINGS)
    assert n_motions == len(set(motions))
    assert (counts[0] == 1).all()
    for motion in set(motions):
        of_motion = counts[:, motions == motion]
        assert (of_motion == of_motion[:, :1]).all()
    again, _ = item_counts(motions[::-1], SETTINGS)
    assert (again[:, ::-1] == counts).all()


@pytest.mark.parametrize(("ours", "theirs"), [(spearman, spearmanr), (pearson, pearsonr)])
def test_correlations_equal_scipy_on_every_resample(ours, theirs) -> None:
    values, labels, motions = tied_data()
    counts, _ = item_counts(motions, SETTINGS)
    found = ours(values, labels, counts)
    expected = [or_nan(lambda a, b: theirs(a, b).statistic, *expanded(row, values, labels)) for row in counts]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_auc_equals_scikit_learn_on_every_resample_ties_counting_half() -> None:
    values, labels, motions = tied_data()
    counts, _ = item_counts(motions, SETTINGS)
    found = auc(values, labels >= 2, counts)
    expected = [roc_auc_score(label >= 2, value) for value, label in (expanded(r, values, labels) for r in counts)]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert auc(np.zeros(4), np.array([True, True, False, False]), np.ones((1, 4)))[0] == 0.5


def test_ranks_of_ties_are_their_middle() -> None:
    assert ranks(np.array([3.0, 1.0, 3.0]), np.array([[1.0, 1, 1], [2, 1, 0]])).tolist() == [
        [2.5, 1.0, 2.5],
        [2.5, 1.0, 2.5],
    ]


@pytest.mark.parametrize("constant", [0.1, 1 / 3, 7.0])
def test_what_does_not_vary_has_no_correlation_and_one_class_no_auc(constant: float) -> None:
    counts = np.ones((1, 5))
    varying, same = np.arange(5.0), np.full(5, constant)
    for one, other in ((varying, same), (same, varying)):
        assert np.isnan(pearson(one, other, counts)).all()
        assert np.isnan(spearman(one, other, counts)).all()
    assert np.isnan(auc(varying, np.ones(5, dtype=bool), counts)).all()
    assert np.isnan(auc(varying, np.zeros(5, dtype=bool), counts)).all()


def test_weighted_means_are_ratios_of_sums_and_undefined_without_items() -> None:
    counts = np.array([[1.0, 1, 1], [0, 2, 1], [0, 0, 0]])
    found = weighted_means(np.array([1.0, 0, 1]), np.array([2.0, 1, 1]), counts)
    assert found[:2].tolist() == [0.75, pytest.approx(1 / 3)]
    assert np.isnan(found[2])


def test_an_estimate_is_never_nan_and_says_why_it_is_missing() -> None:
    nothing = estimated(np.array([np.nan, 1.0, 2.0]), 8, SETTINGS, "No item.")
    assert (nothing.value, nothing.low, nothing.status, nothing.note) == (None, None, "no_interval", "No item.")

    one_motion = estimated(np.array([1.0, 1.0]), 1, SETTINGS, "")
    assert (one_motion.value, one_motion.low, one_motion.status) == (1.0, None, "no_interval")
    assert "one motion" in one_motion.note

    replicates = np.concatenate([[0.5], np.linspace(0, 1, 100)])
    replicates[1:12] = np.nan
    too_many = estimated(replicates, 8, SETTINGS, "No pair.")
    assert (too_many.value, too_many.low, too_many.note) == (0.5, None, "11 of 100 resamples have no value: No pair.")

    replicates[3:12] = 0.5
    some = estimated(replicates, 3, SETTINGS, "No pair.")
    assert some.status == "too_few_clusters"
    assert "Only 3 motions" in some.note and "2 of 100 resamples have no value" in some.note


def test_resamples_that_all_agree_give_no_interval() -> None:
    never = estimated(np.zeros(61), 8, SETTINGS, "")
    assert (never.value, never.low, never.high, never.status) == (0.0, None, None, "no_interval")
    assert "Every resample gives 0 again" in never.note


def test_the_interval_holds_the_percentiles_of_the_replicates() -> None:
    replicates = np.random.default_rng(3).normal(1, 0.1, 1001)
    found = estimated(replicates, 8, SETTINGS, "")
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(replicates[1:], [0.025, 0.975])))
    assert found.excludes_zero and found.status == "ok" and found.note is None


def test_motions_are_drawn_as_for_the_language_gaps() -> None:
    drawn = np.random.default_rng(7).integers(0, 4, size=(60, 4))
    assert (motion_counts(4, SETTINGS)[1:] == [np.bincount(row, minlength=4) for row in drawn]).all()


def test_values_that_rounding_tells_apart_are_tied() -> None:
    third, tenth = (0.1 + 0.2) / 2, 0.15
    assert third != tenth
    assert ranks(np.array([third, 0.3, tenth, 0.1]), np.ones((1, 4))).tolist() == [[2.5, 4.0, 2.5, 1.0]]
    same = np.array([1.0, 1.0 - 2**-53, 1.0 + 2**-52, 1.0])
    assert np.isnan(spearman(same, np.arange(4.0), np.ones((1, 4)))).all()
