"""Statistics that are no plain means, with percentile intervals from resampled motions.

A statistic is written once, over rows of counts that say how often each item is there. The first row holds every item
once and gives the estimate; the others are resamples of motions and give its replicates. Both are therefore the same
formula. Draws are those of ``bootstrap.resample_counts``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dagster_project.estimators.bootstrap import (
    TIE,
    IntervalStatus,
    interval_note,
    percentile_interval,
    resample_counts,
)

Counts = NDArray[np.float64]
"""(1 + n_resamples, n_items): how often each item is there, once each in the first row."""

# Below this share of resamples with a value, the percentiles would describe the resamples that happen to have one.
MIN_DEFINED = 0.9

INTERVAL_FIELDS = [
    pa.field("estimate", pa.float64()),
    pa.field("ci_low", pa.float64()),
    pa.field("ci_high", pa.float64()),
    pa.field("ci_excludes_zero", pa.bool_()),
    pa.field("n_motions", pa.int64(), nullable=False),
    pa.field("n_resamples", pa.int64(), nullable=False),
    pa.field("seed", pa.int64(), nullable=False),
    pa.field("interval_status", pa.string(), nullable=False),
    pa.field("interval_note", pa.string()),
]
"""What every table of estimates says about an estimate's interval."""


@dataclass(frozen=True)
class Settings:
    """How to resample: replicates, seed, confidence, and the motions below which an interval is called too narrow."""

    n_resamples: int
    seed: int
    confidence: float = 0.95
    min_clusters: int = 20


@dataclass(frozen=True)
class Estimate:
    """A value with its interval. What is None has its reason in ``note``; nothing is ever NaN."""

    value: float | None
    low: float | None
    high: float | None
    excludes_zero: bool | None
    n_motions: int
    status: IntervalStatus
    note: str | None

    def columns(self, settings: Settings) -> dict[str, object]:
        """The columns of ``INTERVAL_FIELDS``."""
        return {
            "estimate": self.value,
            "ci_low": self.low,
            "ci_high": self.high,
            "ci_excludes_zero": self.excludes_zero,
            "n_motions": self.n_motions,
            "n_resamples": settings.n_resamples,
            "seed": settings.seed,
            "interval_status": self.status,
            "interval_note": self.note,
        }


def motion_counts(n_motions: int, settings: Settings) -> Counts:
    """Counts of motions, (1 + n_resamples, n_motions): all once, then the resamples."""
    drawn = resample_counts(n_motions, settings.n_resamples, np.random.default_rng(settings.seed))
    return np.vstack([np.ones((1, n_motions)), drawn])


def item_counts(motions: Sequence[str], settings: Settings) -> tuple[Counts, int]:
    """Counts of items that belong to ``motions`` (one each), and the number of distinct motions.

    Motions are numbered in the order of their ids, so that the same motions give the same draws everywhere.
    """
    names, of_item = np.unique(np.asarray(motions, dtype=object), return_inverse=True)
    if len(names) == 0:
        return np.ones((1 + settings.n_resamples, 0)), 0
    return motion_counts(len(names), settings)[:, of_item], len(names)


def estimated(
    values: NDArray[np.float64], n_motions: int, settings: Settings, undefined: str, cluster: str = "motion"
) -> Estimate:
    """The estimate ``values[0]`` with the percentile interval of its replicates ``values[1:]``.

    ``cluster`` is what was resampled, as the notes call it.

    NaN means that a statistic is not defined; ``undefined`` says when that is. Replicates without a value are left
    out and counted in the note; where more than a tenth lack one, there is no interval. Nor is there one where all
    replicates agree: a rate of 0 among 15 turns does not mean that it is 0.
    """
    value = float(values[0])
    if np.isnan(value):
        return no_estimate(n_motions, undefined)
    if n_motions < 2:
        note = interval_note(n_motions, settings.min_clusters, cluster)
        return Estimate(value, None, None, None, n_motions, "no_interval", note)
    replicates = values[1:]
    defined = replicates[~np.isnan(replicates)]
    lacking = f"{len(replicates) - len(defined):,} of {len(replicates):,} resamples have no value: {undefined}"
    if len(defined) < MIN_DEFINED * len(replicates):
        return Estimate(value, None, None, None, n_motions, "no_interval", lacking)
    if np.ptp(defined) == 0 and defined[0] == value:
        note = f"Every resample gives {value:g} again, so resampling cannot tell how far off that may be."
        return Estimate(value, None, None, None, n_motions, "no_interval", note)
    few = interval_note(n_motions, settings.min_clusters, cluster)
    notes = [*([few] if few else []), *([lacking] if len(defined) < len(replicates) else [])]
    low, high = (float(end) for end in percentile_interval(defined, settings.confidence))
    status: IntervalStatus = "too_few_clusters" if n_motions < settings.min_clusters else "ok"
    return Estimate(value, low, high, low > 0 or high < 0, n_motions, status, " ".join(notes) or None)


def no_estimate(n_motions: int, reason: str) -> Estimate:
    """No value at all, and why."""
    return Estimate(None, None, None, None, n_motions, "no_interval", reason)


def weighted_means(values: NDArray[np.float64], weights: NDArray[np.float64], counts: Counts) -> NDArray[np.float64]:
    """Σ w·y / Σ w over the items of each row of ``counts``; NaN in a row without any item."""
    total = counts @ weights
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, (counts @ (weights * values)) / total, np.nan)


def pearson(first: NDArray[np.float64], second: NDArray[np.float64], counts: Counts) -> NDArray[np.float64]:
    """Pearson's correlation in each row of ``counts``; NaN where one side is constant.

    ``first`` and ``second`` are (n_items,), or one row of values per row of ``counts``.
    """
    n = counts.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        one, two = (side - (counts * side).sum(axis=1, keepdims=True) / n for side in (first, second))
        ones, twos = ((counts * side**2).sum(axis=1) for side in (one, two))
        # A constant side leaves rounding errors of its mean, not zero.
        varies = _varies(first, counts) & _varies(second, counts)
        return np.where(varies, np.clip((counts * one * two).sum(axis=1) / np.sqrt(ones * twos), -1, 1), np.nan)


def ranks(values: NDArray[np.float64], counts: Counts) -> NDArray[np.float64]:
    """Ranks of the items of each row of ``counts`` from 1, ties at their middle: (rows, n_items).

    Values that differ by rounding only are tied.
    """
    order = np.argsort(values, kind="stable")
    is_higher = np.diff(values[order], prepend=-np.inf) > TIE
    first, group = np.flatnonzero(is_higher), np.cumsum(is_higher) - 1
    in_group = np.add.reduceat(counts[:, order], first, axis=1)
    below = np.cumsum(in_group, axis=1) - in_group
    in_order = (below + (in_group + 1) / 2)[:, group]
    return in_order[:, np.argsort(order, kind="stable")]


def spearman(first: NDArray[np.float64], second: NDArray[np.float64], counts: Counts) -> NDArray[np.float64]:
    """Spearman's rank correlation in each row of ``counts``; NaN where one side is constant."""
    return pearson(ranks(first, counts), ranks(second, counts), counts)


def auc(values: NDArray[np.float64], positive: NDArray[np.bool_], counts: Counts) -> NDArray[np.float64]:
    """How often a positive item has the higher value than a negative one, a tie counting half.

    NaN in a row of ``counts`` without a positive or without a negative item.
    """
    n_positive, n_negative = counts @ positive, counts @ ~positive
    rank_sum = (counts * ranks(values, counts))[:, positive].sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(
            (n_positive > 0) & (n_negative > 0),
            (rank_sum - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative),
            np.nan,
        )


def _varies(values: NDArray[np.float64], counts: Counts) -> NDArray[np.bool_]:
    there = counts > 0
    highest = np.where(there, values, -np.inf).max(axis=1, initial=-np.inf)
    lowest = np.where(there, values, np.inf).min(axis=1, initial=np.inf)
    return highest > lowest
