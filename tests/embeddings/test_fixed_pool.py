from itertools import combinations

import numpy as np
import pytest

from embeddings.fixed_pool import POOL_SIZES, expectation_weights


@pytest.mark.parametrize("k", POOL_SIZES)
def test_the_expectation_is_the_mean_of_the_maxima_of_every_subset(k):
    rng = np.random.default_rng(k)
    weights = expectation_weights(14, k)
    for n in range(k, 15):
        pool = rng.uniform(-1, 1, n)
        enumerated = np.mean([max(subset) for subset in combinations(pool, k)])
        assert np.sort(pool)[::-1] @ weights[n, :n] == pytest.approx(enumerated, abs=1e-14)


def test_drawing_subsets_gives_the_same_expectation():
    rng = np.random.default_rng(5)
    pool = rng.uniform(0.2, 0.9, 25)
    drawn = rng.permuted(np.tile(pool, (20_000, 1)), axis=1)[:, :10].max(axis=1)
    expectation = np.sort(pool)[::-1] @ expectation_weights(25, 10)[25]
    assert abs(drawn.mean() - expectation) < 4 * drawn.std() / np.sqrt(len(drawn))


def test_a_pool_as_large_as_the_subset_has_its_maximum():
    np.testing.assert_array_equal(expectation_weights(5, 5)[5], [1, 0, 0, 0, 0])


def test_a_pool_smaller_than_the_subset_has_no_weights():
    assert not expectation_weights(9, 5)[:5].any()


def test_the_weights_of_a_large_pool_sum_to_one():
    weights = expectation_weights(400, 10)
    np.testing.assert_allclose(weights[10:].sum(axis=1), 1, atol=1e-12)
