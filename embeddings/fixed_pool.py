"""Prior pools of one size: the expected maximum over K earlier arguments drawn from all of them."""

import numpy as np

# Pool sizes of the variants `fixed_k5` and `fixed_k10`.
POOL_SIZES = (5, 10)


def expectation_weights(largest_pool: int, k: int) -> np.ndarray:
    """Weights that turn a pool's similarities, sorted downwards, into their expected maximum over K-subsets.

    The i-th largest of n is the maximum of a subset that holds it and K - 1 of the n - i smaller ones, so its weight is
    C(n - i, K - 1) / C(n, K). The expectation is exact: no subset is drawn.

    Returns float64 (largest_pool + 1, largest_pool): row n holds the weights of a pool of n. They sum to one where
    n >= K, and are all zero where a pool is smaller than K and no such subset exists.

    Source: sections 3.4 and F.1 of the paper on prior-argument similarity, which sample the subsets.
    """
    if k < 1:
        raise ValueError(f"a subset holds at least one argument, not {k}")
    weights = np.zeros((largest_pool + 1, largest_pool))
    for n in range(k, largest_pool + 1):
        weight = k / n
        for i in range(1, n - k + 2):
            weights[n, i - 1] = weight
            weight *= (n - i - k + 1) / (n - i) if n > i else 0.0
    return weights
