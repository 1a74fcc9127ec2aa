"""The paired motion-cluster bootstrap: percentile intervals for means over resampled motions.

A contrast is one difference per motion (for a language gap, M(language) - M(reference_language)). Motions are drawn
with replacement, and the mean is taken over each draw. A draw is kept as counts, how often it holds each motion, so
that every contrast on the same motions shares the same draws and all their replicates are one matrix product.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

IntervalStatus = Literal["ok", "too_few_clusters", "no_interval"]

# Similarities are sums of products of floating-point numbers: closer than this, what is left between them is rounding.
TIE = 1e-12

# Bounds the replicates held at once (32 MB of float64), whatever the number of contrasts.
_MAX_REPLICATES_HELD = 4_000_000


@dataclass(frozen=True, eq=False)
class BootstrapResult:
    """Means and percentile intervals, one entry per contrast in each array.

    ``ci_low`` and ``ci_high`` are NaN, and ``ci_excludes_zero`` is False, exactly where ``interval_status`` is
    ``no_interval``. ``interval_status`` is ``no_interval`` for a single cluster, ``too_few_clusters`` for an interval
    from fewer than the asked minimum, ``ok`` otherwise.
    """

    estimate: NDArray[np.float64]
    ci_low: NDArray[np.float64]
    ci_high: NDArray[np.float64]
    ci_excludes_zero: NDArray[np.bool_]
    n_clusters: NDArray[np.int64]
    interval_status: tuple[IntervalStatus, ...]
    n_resamples: int
    seed: int


def resample_counts(n_clusters: int, n_resamples: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """How often each resample holds each cluster when ``n_clusters`` clusters are drawn with replacement.

    The draw is the single call ``rng.integers(0, n_clusters, size=(n_resamples, n_clusters))``: row r lists the
    clusters of resample r, as in ``scipy.stats.bootstrap``, which therefore gives the same replicates from the same
    generator. Returns counts of shape (n_resamples, n_clusters); each row sums to ``n_clusters``.
    """
    if n_clusters < 1 or n_resamples < 1:
        raise ValueError(f"need at least one cluster and one resample, got {n_clusters} and {n_resamples}")
    drawn = rng.integers(0, n_clusters, size=(n_resamples, n_clusters))
    cell = drawn + n_clusters * np.arange(n_resamples)[:, np.newaxis]
    return np.bincount(cell.ravel(), minlength=n_resamples * n_clusters).reshape(n_resamples, n_clusters)


def replicate_means(
    values: NDArray[np.float64], counts: NDArray[np.int64] | NDArray[np.float64]
) -> NDArray[np.float64]:
    """The mean of each row of ``values`` (n_contrasts, n_clusters) over each resample of ``counts``.

    Returns shape (n_contrasts, n_resamples). Each value is first rounded to a binary grid that holds its row's
    largest sum in 53 bits, an error of at most n_clusters * 2**-52 of the row's largest value. On that grid every
    partial sum is exact, so a replicate depends neither on the other rows nor on the order in which the processor
    adds, and equal values have exactly equal means.
    """
    n_clusters = values.shape[1]
    largest = np.abs(values).max(axis=1, keepdims=True)
    exponent = np.frexp(n_clusters * largest)[1]
    on_grid = np.ldexp(np.rint(np.ldexp(values, 52 - exponent)), exponent - 52)
    return on_grid @ np.asarray(counts, dtype=np.float64).T / n_clusters


def percentile_interval(
    replicates: NDArray[np.float64], confidence: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The percentile interval of each row of ``replicates`` (..., n_resamples), linear between order statistics.

    Returns (low, high), each of shape (...). Raises ValueError unless 0 < confidence < 1 and all replicates are
    finite.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}")
    if not np.isfinite(replicates).all():
        raise ValueError("replicates must be finite")
    tail = (1 - confidence) / 2
    low, high = np.quantile(replicates, [tail, 1 - tail], axis=-1)
    return low, high


def cluster_bootstrap_means(
    differences: NDArray[np.float64],
    n_resamples: int,
    seed: int,
    confidence: float = 0.95,
    min_clusters: int = 20,
) -> BootstrapResult:
    """The mean of each contrast over its clusters, with a percentile interval from resampled clusters.

    ``differences`` has shape (n_clusters, n_contrasts), NaN where a contrast lacks a cluster; such a contrast
    resamples the clusters it has, in row order. Each number of clusters gets its draws from a fresh generator,
    ``np.random.default_rng(seed)``: contrasts on the same clusters share their draws, so the replicates of a
    difference of contrasts are the differences of their replicates, and a contrast's interval does not depend on
    which others are in the call.

    Raises ValueError for an infinite difference, for a contrast without any cluster, and for a confidence or a number
    of resamples out of range. Source: sections 3.6 and E.1 of the paper, which use 5,000 resamples and seed 42.
    """
    differences = np.asarray(differences, dtype=np.float64)
    if differences.ndim != 2:
        raise ValueError(f"differences must have shape (n_clusters, n_contrasts), got {differences.shape}")
    if np.isinf(differences).any():
        raise ValueError(f"infinite differences in contrasts {_columns(np.isinf(differences).any(axis=0))}")
    n_clusters = np.count_nonzero(~np.isnan(differences), axis=0)
    if (n_clusters == 0).any():
        raise ValueError(f"no cluster in contrasts {_columns(n_clusters == 0)}; leave them out, with a reason")

    estimate, ci_low, ci_high = np.full((3, differences.shape[1]), np.nan)
    for n in np.unique(n_clusters):
        counts = resample_counts(n, n_resamples, np.random.default_rng(seed)).astype(np.float64)
        contrasts = np.flatnonzero(n_clusters == n)
        chunk_size = max(1, _MAX_REPLICATES_HELD // n_resamples)
        for chunk in np.split(contrasts, range(chunk_size, contrasts.size, chunk_size)):
            rows = differences[:, chunk].T
            values = rows[~np.isnan(rows)].reshape(chunk.size, n)
            estimate[chunk] = replicate_means(values, np.ones((1, n)))[:, 0]
            if n > 1:
                ci_low[chunk], ci_high[chunk] = percentile_interval(replicate_means(values, counts), confidence)

    return BootstrapResult(
        estimate=estimate,
        ci_low=ci_low,
        ci_high=ci_high,
        ci_excludes_zero=(ci_low > 0) | (ci_high < 0),
        n_clusters=n_clusters,
        interval_status=tuple(_interval_status(n, min_clusters) for n in n_clusters),
        n_resamples=n_resamples,
        seed=seed,
    )


def interval_note(n_clusters: int, min_clusters: int, cluster: str = "motion") -> str | None:
    """What a reader of a percentile interval over this many motions has to know; None when there are enough.

    ``cluster`` is what was resampled, as the note calls it.
    """
    if n_clusters == 1:
        return f"Only one {cluster}: resampling {cluster}s needs at least two, so there is no interval."
    if n_clusters < min_clusters:
        return f"Only {n_clusters} {cluster}s: below {min_clusters}, percentile intervals tend to be too narrow."
    return None


def _interval_status(n_clusters: int, min_clusters: int) -> IntervalStatus:
    if n_clusters == 1:
        return "no_interval"
    return "too_few_clusters" if n_clusters < min_clusters else "ok"


def _columns(flagged: NDArray[np.bool_], shown: int = 10) -> str:
    columns = np.flatnonzero(flagged).tolist()
    return ", ".join(map(str, columns[:shown])) + (f" and {len(columns) - shown} more" if len(columns) > shown else "")
