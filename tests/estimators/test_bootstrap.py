"""The motion-cluster bootstrap against plain loops, SciPy, exact enumeration, closed forms and its nominal rates."""

import itertools
import tracemalloc
from collections import Counter

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from dagster_project.estimators.bootstrap import (
    cluster_bootstrap_means,
    percentile_interval,
    replicate_means,
    resample_counts,
)

N_MOTIONS = 71
N_RESAMPLES = 5_000
SEED = 42


def gaps(n_motions: int = N_MOTIONS, n_contrasts: int = 1, mean: float = 0.047, sd: float = 0.05, seed: int = 0):
    """Differences of the size the paper reports, shape (n_motions, n_contrasts)."""
    return np.random.default_rng(seed).normal(mean, sd, size=(n_motions, n_contrasts))


def interval(differences, **options):
    result = cluster_bootstrap_means(np.reshape(differences, (len(differences), -1)), N_RESAMPLES, SEED, **options)
    return result.ci_low[0], result.ci_high[0]


# The draw


def test_counts_are_the_tally_of_one_call_to_integers():
    counts = resample_counts(7, 200, np.random.default_rng(SEED))
    drawn = np.random.default_rng(SEED).integers(0, 7, size=(200, 7))
    for row, motions in zip(counts, drawn, strict=True):
        tally = Counter(motions.tolist())
        assert row.tolist() == [tally[motion] for motion in range(7)]


def test_every_resample_holds_as_many_draws_as_there_are_clusters():
    counts = resample_counts(N_MOTIONS, 300, np.random.default_rng(SEED))
    assert counts.shape == (300, N_MOTIONS)
    assert counts.min() >= 0
    assert (counts.sum(axis=1) == N_MOTIONS).all()


def test_counts_follow_the_multinomial_distribution():
    n_draws = 20_000
    observed = Counter(map(tuple, resample_counts(3, n_draws, np.random.default_rng(SEED)).tolist()))
    outcomes = [outcome for outcome in itertools.product(range(4), repeat=3) if sum(outcome) == 3]
    expected = n_draws * scipy.stats.multinomial(3, [1 / 3] * 3).pmf(outcomes)
    assert scipy.stats.chisquare([observed[outcome] for outcome in outcomes], expected).pvalue > 0.001


@pytest.mark.parametrize(("n_clusters", "n_resamples"), [(0, 10), (10, 0)])
def test_a_draw_without_clusters_or_resamples_is_refused(n_clusters, n_resamples):
    with pytest.raises(ValueError, match="at least one cluster and one resample"):
        resample_counts(n_clusters, n_resamples, np.random.default_rng(SEED))


# Against independent implementations


def test_replicates_equal_a_plain_loop_over_the_drawn_motions():
    differences = gaps(n_motions=9)[:, 0]
    drawn = np.random.default_rng(SEED).integers(0, 9, size=(500, 9))
    by_hand = [sum(differences[motion] for motion in motions) / 9 for motions in drawn.tolist()]
    counts = resample_counts(9, 500, np.random.default_rng(SEED))
    np.testing.assert_allclose(replicate_means(differences[np.newaxis], counts)[0], by_hand, rtol=0, atol=1e-15)


def test_intervals_equal_scipy_percentile_intervals_from_the_same_seed():
    differences = gaps(n_contrasts=3)
    result = cluster_bootstrap_means(differences, N_RESAMPLES, SEED)
    for j, sample in enumerate(differences.T):
        reference = scipy.stats.bootstrap(
            (sample,), np.mean, n_resamples=N_RESAMPLES, method="percentile", rng=np.random.default_rng(SEED)
        ).confidence_interval
        np.testing.assert_allclose([result.ci_low[j], result.ci_high[j]], reference, rtol=0, atol=1e-14)


def test_intervals_from_another_seed_differ_from_scipy_by_resampling_noise_only():
    sample = np.random.default_rng(1).exponential(0.05, size=N_MOTIONS)
    result = cluster_bootstrap_means(sample[:, np.newaxis], 100_000, seed=7)
    reference = scipy.stats.bootstrap(
        (sample,), np.mean, n_resamples=100_000, method="percentile", batch=10_000, rng=np.random.default_rng(8)
    )
    noise = 0.02 * reference.standard_error
    np.testing.assert_allclose([result.ci_low[0], result.ci_high[0]], reference.confidence_interval, atol=noise)


def test_another_confidence_widens_or_narrows_as_scipy_does():
    sample = gaps()[:, 0]
    reference = scipy.stats.bootstrap(
        (sample,),
        np.mean,
        n_resamples=N_RESAMPLES,
        confidence_level=0.8,
        method="percentile",
        rng=np.random.default_rng(SEED),
    ).confidence_interval
    np.testing.assert_allclose(interval(sample, confidence=0.8), reference, rtol=0, atol=1e-14)


# Exact enumeration and closed forms


def test_with_two_motions_a_95_percent_interval_spans_both_differences():
    # The mean of two draws from {0.02, 0.10} is 0.02, 0.06 or 0.10 with probability 1/4, 1/2, 1/4.
    assert interval([0.02, 0.10]) == pytest.approx((0.02, 0.10), abs=1e-15)
    assert interval([0.02, 0.10], confidence=0.4) == pytest.approx((0.06, 0.06), abs=1e-15)


@pytest.mark.parametrize("confidence", [0.95, 0.9, 0.8, 0.6])
@pytest.mark.parametrize("differences", [[0.02, 0.10], [-0.01, 0.03, 0.08]])
def test_intervals_equal_the_percentiles_of_all_equally_likely_draws(differences, confidence):
    n = len(differences)
    means = np.sort([np.mean(draw) for draw in itertools.product(differences, repeat=n)])
    cumulative = np.arange(1, n**n + 1) / n**n
    tail = (1 - confidence) / 2
    exact = [means[np.searchsorted(cumulative, probability)] for probability in (tail, 1 - tail)]
    assert interval(differences, confidence=confidence) == pytest.approx(exact, abs=1e-15)


def test_replicates_have_the_mean_and_spread_of_a_mean_of_draws():
    differences = gaps()[:, 0]
    counts = resample_counts(N_MOTIONS, 100_000, np.random.default_rng(SEED))
    replicates = replicate_means(differences[np.newaxis], counts)[0]
    # sd / sqrt(n) with the divisor n - 1, times sqrt((n - 1) / n): the draws come from the sample itself.
    standard_error = differences.std(ddof=1) / np.sqrt(N_MOTIONS) * np.sqrt((N_MOTIONS - 1) / N_MOTIONS)
    assert replicates.mean() == pytest.approx(differences.mean(), abs=4 * standard_error / np.sqrt(100_000))
    assert replicates.std() == pytest.approx(standard_error, rel=0.01)


def test_a_percentile_falls_between_order_statistics():
    replicates = np.array([[3.0, 0.0, 4.0, 1.0, 2.0], [5.0, 5.0, 5.0, 5.0, 5.0]])
    low, high = percentile_interval(replicates, 0.5)
    assert low.tolist() == [1.0, 5.0]
    assert high.tolist() == [3.0, 5.0]
    low, high = percentile_interval(replicates[0], 0.9)
    assert (low, high) == pytest.approx((0.2, 3.8))


# Size and coverage


def test_95_percent_intervals_cover_the_true_gap_in_about_95_percent_of_studies():
    result = cluster_bootstrap_means(gaps(n_contrasts=2_000, mean=0.047), 2_000, SEED)
    coverage = np.mean((result.ci_low <= 0.047) & (result.ci_high >= 0.047))
    assert 0.92 <= coverage <= 0.97


def test_intervals_exclude_zero_in_about_5_percent_of_studies_without_a_gap():
    rng = np.random.default_rng(3)
    motion_effect = rng.normal(0.6, 0.08, size=(N_MOTIONS, 2_000))
    language, reference = motion_effect + rng.normal(0, 0.04, size=(2, N_MOTIONS, 2_000))
    result = cluster_bootstrap_means(language - reference, 2_000, SEED)
    assert 0.03 <= result.ci_excludes_zero.mean() <= 0.08


def test_ten_motions_give_intervals_that_are_too_narrow():
    result = cluster_bootstrap_means(gaps(n_motions=10, n_contrasts=2_000), 2_000, SEED)
    coverage = np.mean((result.ci_low <= 0.047) & (result.ci_high >= 0.047))
    assert 0.85 <= coverage <= 0.92
    assert set(result.interval_status) == {"too_few_clusters"}


# Invariances


def test_a_contrast_has_the_same_numbers_whichever_contrasts_are_beside_it():
    differences = gaps(n_contrasts=40)
    differences[3, ::3] = np.nan
    differences[:5, 7] = np.nan
    together = cluster_bootstrap_means(differences, N_RESAMPLES, SEED)
    shuffled = np.random.default_rng(5).permutation(40)
    for columns in (shuffled, shuffled[:11], [0], [7], [20]):
        apart = cluster_bootstrap_means(differences[:, columns], N_RESAMPLES, SEED)
        assert (apart.estimate == together.estimate[columns]).all()
        assert (apart.ci_low == together.ci_low[columns]).all()
        assert (apart.ci_high == together.ci_high[columns]).all()


def test_numbers_do_not_depend_on_how_many_replicates_are_held_at_once(monkeypatch):
    differences = gaps(n_contrasts=23)
    at_once = cluster_bootstrap_means(differences, 1_000, SEED)
    for held in (1, 5_000):
        monkeypatch.setattr("dagster_project.estimators.bootstrap._MAX_REPLICATES_HELD", held)
        in_chunks = cluster_bootstrap_means(differences, 1_000, SEED)
        assert (in_chunks.ci_low == at_once.ci_low).all()
        assert (in_chunks.ci_high == at_once.ci_high).all()


def test_an_absent_motion_is_as_if_it_had_never_been_there():
    differences = gaps(n_contrasts=4)
    without = np.delete(differences, [2, 30], axis=0)
    differences[[2, 30]] = np.nan
    result = cluster_bootstrap_means(differences, N_RESAMPLES, SEED)
    expected = cluster_bootstrap_means(without, N_RESAMPLES, SEED)
    assert result.n_clusters.tolist() == [69] * 4
    assert (result.estimate == expected.estimate).all()
    assert (result.ci_low == expected.ci_low).all()
    assert (result.ci_high == expected.ci_high).all()


def test_the_order_of_motions_moves_an_interval_by_resampling_noise_only():
    differences = gaps()[:, 0]
    reordered = np.random.default_rng(9).permutation(differences)
    standard_error = differences.std() / np.sqrt(N_MOTIONS)
    assert interval(reordered) == pytest.approx(interval(differences), abs=0.15 * standard_error)
    assert interval(reordered) != interval(differences)


@given(
    differences=st.lists(st.floats(-2, 2), min_size=2, max_size=30),
    shift=st.floats(-2, 2),
    scale=st.floats(0.01, 100),
)
@settings(max_examples=100, deadline=None)
def test_an_interval_moves_and_stretches_with_its_differences(differences, shift, scale):
    low, high = interval(differences)
    tolerance = 1e-12 * max(1, scale)
    assert interval(np.add(differences, shift)) == pytest.approx((low + shift, high + shift), abs=tolerance)
    assert interval(np.multiply(differences, scale)) == pytest.approx((low * scale, high * scale), abs=tolerance)
    assert interval(np.negative(differences)) == pytest.approx((-high, -low), abs=tolerance)


@given(differences=st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=2, max_size=80))
@settings(max_examples=200, deadline=None)
def test_replicates_are_exact_sums_whatever_the_order_of_addition(differences):
    n = len(differences)
    counts = resample_counts(n, 20, np.random.default_rng(SEED))
    forwards = replicate_means(np.array([differences]), counts)
    backwards = replicate_means(np.array([differences[::-1]]), counts[:, ::-1])
    assert (forwards == backwards).all()
    largest = max(map(abs, differences))
    np.testing.assert_allclose(forwards[0], counts @ np.array(differences) / n, rtol=0, atol=largest * n * 2.0**-51)


def test_replicates_of_a_difference_of_contrasts_are_the_differences_of_their_replicates():
    first, second = gaps(n_contrasts=2).T
    counts = resample_counts(N_MOTIONS, N_RESAMPLES, np.random.default_rng(SEED))
    replicates = replicate_means(np.stack([first, second, first - second]), counts)
    np.testing.assert_allclose(replicates[0] - replicates[1], replicates[2], rtol=0, atol=1e-14)


def test_contrasts_on_the_same_motions_share_their_draws():
    first, second = gaps(n_contrasts=2).T
    result = cluster_bootstrap_means(np.stack([first, second, first - second], axis=1), N_RESAMPLES, SEED)
    drawn = np.random.default_rng(SEED).integers(0, N_MOTIONS, size=(N_RESAMPLES, N_MOTIONS))
    of_the_difference = first[drawn].mean(axis=1) - second[drawn].mean(axis=1)
    expected = np.percentile(of_the_difference, [2.5, 97.5])
    np.testing.assert_allclose([result.ci_low[2], result.ci_high[2]], expected, rtol=0, atol=1e-14)


# Edges


@pytest.mark.parametrize("constant", [0.1, -0.1, 1 / 3, 1e-9, 0.0, -0.0])
def test_equal_differences_have_an_interval_without_width(constant):
    result = cluster_bootstrap_means(np.full((N_MOTIONS, 1), constant), N_RESAMPLES, SEED)
    assert result.ci_low[0] == result.ci_high[0] == result.estimate[0]
    assert result.estimate[0] == pytest.approx(constant, rel=1e-13)
    assert result.ci_excludes_zero[0] == (constant != 0)


def test_an_interval_that_touches_zero_does_not_exclude_it():
    result = cluster_bootstrap_means(np.array([[0.0, -0.1, 0.1], [0.1, 0.0, 0.2]]), N_RESAMPLES, SEED)
    assert result.ci_low.tolist() == pytest.approx([0.0, -0.1, 0.1])
    assert result.ci_excludes_zero.tolist() == [False, False, True]


def test_one_motion_has_an_estimate_and_no_interval():
    result = cluster_bootstrap_means(np.array([[0.05, 0.01], [np.nan, 0.03]]), N_RESAMPLES, SEED)
    assert result.estimate == pytest.approx([0.05, 0.02])
    assert result.interval_status == ("no_interval", "too_few_clusters")
    assert np.isnan([result.ci_low[0], result.ci_high[0]]).all()
    assert np.isfinite([result.ci_low[1], result.ci_high[1]]).all()
    assert not result.ci_excludes_zero[0]


def test_fewer_motions_than_the_minimum_are_flagged_and_still_get_an_interval():
    differences = gaps(n_motions=20, n_contrasts=2)
    differences[0, 1] = np.nan
    result = cluster_bootstrap_means(differences, N_RESAMPLES, SEED, min_clusters=20)
    assert result.n_clusters.tolist() == [20, 19]
    assert result.interval_status == ("ok", "too_few_clusters")
    assert np.isfinite(result.ci_low).all()


def test_no_contrasts_give_an_empty_result():
    result = cluster_bootstrap_means(np.empty((N_MOTIONS, 0)), N_RESAMPLES, SEED)
    assert result.estimate.shape == result.ci_low.shape == (0,)
    assert result.interval_status == ()


@pytest.mark.parametrize(
    ("differences", "options", "message"),
    [
        ([[0.1, np.inf], [0.2, 0.3]], {}, "infinite differences in contrasts 1"),
        ([[0.1, np.nan], [0.2, np.nan]], {}, "no cluster in contrasts 1"),
        (np.empty((0, 12)), {}, "no cluster in contrasts 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"),
        ([0.1, 0.2], {}, "must have shape"),
        ([[0.1], [0.2]], {"confidence": 1.0}, "between 0 and 1"),
        ([[0.1], [0.2]], {"confidence": 95}, "between 0 and 1"),
        ([[0.1], [0.2]], {"n_resamples": 0}, "at least one cluster and one resample"),
    ],
)
def test_input_that_cannot_be_resampled_is_refused(differences, options, message):
    with pytest.raises(ValueError, match=message):
        cluster_bootstrap_means(np.array(differences), **{"n_resamples": 100, "seed": SEED, **options})


def test_percentiles_of_replicates_that_are_not_finite_are_refused():
    with pytest.raises(ValueError, match="finite"):
        percentile_interval(np.array([0.1, np.nan]), 0.95)


def test_memory_stays_bounded_with_thousands_of_contrasts():
    differences = gaps(n_contrasts=4_000)
    tracemalloc.start()
    try:
        cluster_bootstrap_means(differences, N_RESAMPLES, SEED)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # All replicates at once would be 160 MB, and their sorted copy as much again.
    assert peak < 100e6
