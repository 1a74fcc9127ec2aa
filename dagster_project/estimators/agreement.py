"""Agreement of raters: exact agreement, Cohen's kappa and Krippendorff's alpha [paper F.7, F.8, G.1].

The formulas stand here, over tables of counts, because each is evaluated thousands of times under resampled motions.
The tests hold them to scikit-learn, statsmodels and krippendorff.
"""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dagster_project.estimators.grouped import Rows, groups, pooled_and_by
from dagster_project.estimators.resampled import (
    INTERVAL_FIELDS,
    Counts,
    Settings,
    estimated,
    item_counts,
    no_estimate,
    pearson,
)

Weighting = Literal["none", "linear", "quadratic"]
Level = Literal["nominal", "ordinal"]

AGREEMENT_SCHEMA = pa.schema(
    [
        pa.field("comparison", pa.string(), nullable=False),
        pa.field("judge", pa.string()),
        pa.field("dimension", pa.string(), nullable=False),
        pa.field("language", pa.string()),
        pa.field("measure", pa.string(), nullable=False),
        pa.field("rater", pa.string()),
        pa.field("other_rater", pa.string()),
        pa.field("n_items", pa.int64(), nullable=False),
        *INTERVAL_FIELDS,
    ]
)
_PANEL = ["comparison", "judge", "dimension", "scale"]

_ONE_RATER = "Only one rater: agreement needs two."
_NO_ITEM = "No item was rated by both."
_ONE_VALUE = "Only one value is used, so agreement by chance is certain and leaves nothing to measure."
_CONSTANT = "One of the two gives every item the same value, so there is no correlation."


def agreement_table(ratings: pa.Table, settings: Settings) -> pa.Table:
    """One row in ``AGREEMENT_SCHEMA`` per comparison, judge, dimension, language, measure and pair of raters.

    ``ratings`` has the columns comparison, judge (NULL where people are compared), dimension, scale (binary or
    ordinal), item, rater, motion_id, language and rating, one row per item and rater. Language NULL pools all
    languages. Exact agreement, kappas and Pearson's correlation compare two raters on the items that both rated; alpha
    takes all raters of the comparison at once (raters NULL). A measure that cannot be computed keeps its row, with its
    reason in ``interval_note``.
    """
    rows = []
    for panel, members in groups(ratings, _PANEL):
        for language, part in pooled_and_by(members, "language"):
            for measure in _measures(panel["scale"], part, settings):
                named = {name: panel[name] for name in ("comparison", "judge", "dimension")}
                rows.append(named | {"language": language} | measure)
    return pa.Table.from_pylist(rows, schema=AGREEMENT_SCHEMA)


def confusion_tables(
    first: NDArray[np.int64], second: NDArray[np.int64], n_values: int, counts: Counts
) -> NDArray[np.float64]:
    """How often each pair of values occurs in each row of ``counts``: (rows, n_values, n_values)."""
    cells = np.eye(n_values**2)[first * n_values + second]
    return (counts @ cells).reshape(-1, n_values, n_values)


def exact_agreement(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of items with equal values; NaN without an item."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.trace(tables, axis1=1, axis2=2) / tables.sum(axis=(1, 2))


def cohen_kappa(
    tables: NDArray[np.float64], values: NDArray[np.float64], weighting: Weighting = "none"
) -> NDArray[np.float64]:
    """1 − observed over chance disagreement. NaN where chance disagreement is zero: both use one value.

    Weights are distances between ``values``, not between their places: a value that nobody used changes nothing.
    """
    distance = np.abs(values[:, np.newaxis] - values[np.newaxis, :])
    cost = {"none": (distance > 0).astype(np.float64), "linear": distance, "quadratic": distance**2}[weighting]
    n = tables.sum(axis=(1, 2))
    observed = (tables * cost).sum(axis=(1, 2))
    chance = np.einsum("ri,ij,rj->r", tables.sum(axis=2), cost, tables.sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(chance > 0, 1 - observed * n / chance, np.nan)


def coincidences(ratings: NDArray[np.int64], n_values: int) -> NDArray[np.float64]:
    """What each item adds to the coincidence matrix: (n_items, n_values, n_values).

    ``ratings`` is (n_items, n_raters), −1 where a rater gave none. An item with fewer than two ratings adds nothing.
    """
    given = np.stack([(ratings == value).sum(axis=1) for value in range(n_values)], axis=1).astype(np.float64)
    n_ratings = given.sum(axis=1)
    pairs = given[:, :, np.newaxis] * given[:, np.newaxis, :]
    diagonal = np.arange(n_values)
    pairs[:, diagonal, diagonal] -= given
    return pairs / np.maximum(n_ratings - 1, 1)[:, np.newaxis, np.newaxis]


def krippendorff_alpha(tables: NDArray[np.float64], level: Level) -> NDArray[np.float64]:
    """Krippendorff's alpha of each coincidence matrix (rows, n_values, n_values), values in ascending order.

    NaN where one value only occurs. The ordinal distance between two values is the number of ratings from the one to
    the other, those on the two counting half.
    """
    n_values = tables.shape[1]
    marginal = tables.sum(axis=2)
    if level == "nominal":
        distance = np.broadcast_to(1 - np.eye(n_values), tables.shape)
    else:
        middle = np.cumsum(marginal, axis=1) - marginal / 2
        distance = (middle[:, :, np.newaxis] - middle[:, np.newaxis, :]) ** 2
    observed = (tables * distance).sum(axis=(1, 2))
    chance = np.einsum("ri,rij,rj->r", marginal, distance, marginal)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(chance > 0, 1 - (marginal.sum(axis=1) - 1) * observed / chance, np.nan)


def _measures(scale: str, part: Rows, settings: Settings) -> Iterator[dict[str, object]]:
    """Every measure of one dimension among its raters, as rows without the names of what is compared."""
    raters = sorted(set(part["rater"]))
    items, of_item = np.unique(np.asarray(part["item"], dtype=object), return_inverse=True)
    values, of_value = np.unique(np.asarray(part["rating"], dtype=np.float64), return_inverse=True)
    motion = dict(zip(part["item"], part["motion_id"], strict=True))
    motions = np.array([motion[item] for item in items], dtype=object)
    ratings = np.full((len(items), len(raters)), -1)
    ratings[of_item, [raters.index(rater) for rater in part["rater"]]] = of_value

    two_by_two = _pair_measures(scale)
    if len(raters) < 2:
        for name in [*two_by_two, f"alpha_{_level(scale)}"]:
            nothing = no_estimate(len(set(motions)), _ONE_RATER).columns(settings)
            yield {"measure": name, "rater": raters[0], "other_rater": None, "n_items": 0} | nothing
        return
    for one, other in combinations(range(len(raters)), 2):
        both = (ratings[:, one] >= 0) & (ratings[:, other] >= 0)
        counts, n_motions = item_counts(motions[both], settings)
        first, second = ratings[both, one], ratings[both, other]
        for name, (measure, undefined) in two_by_two.items():
            found = (
                estimated(measure(first, second, values, counts), n_motions, settings, undefined)
                if both.any()
                else no_estimate(0, _NO_ITEM)
            )
            pair = {"rater": raters[one], "other_rater": raters[other], "n_items": int(both.sum())}
            yield {"measure": name} | pair | found.columns(settings)

    several = (ratings >= 0).sum(axis=1) > 1
    counts, n_motions = item_counts(motions[several], settings)
    found = (
        estimated(_alpha(ratings[several], len(values), _level(scale), counts), n_motions, settings, _ONE_VALUE)
        if several.any()
        else no_estimate(0, _NO_ITEM)
    )
    everybody = {"rater": None, "other_rater": None, "n_items": int(several.sum())}
    yield {"measure": f"alpha_{_level(scale)}"} | everybody | found.columns(settings)


PairMeasure = Callable[
    [NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], Counts],
    NDArray[np.float64],
]


def _pair_measures(scale: str) -> dict[str, tuple[PairMeasure, str]]:
    """The measures of two raters by name, each with the reason why it can be undefined."""
    measures: dict[str, tuple[PairMeasure, str]] = {
        "exact_agreement": (lambda a, b, v, counts: exact_agreement(confusion_tables(a, b, len(v), counts)), _NO_ITEM),
        "kappa": (_kappa("none"), _ONE_VALUE),
    }
    if scale == "ordinal":
        measures |= {
            "kappa_linear": (_kappa("linear"), _ONE_VALUE),
            "kappa_quadratic": (_kappa("quadratic"), _ONE_VALUE),
            "pearson": (lambda a, b, v, counts: pearson(v[a], v[b], counts), _CONSTANT),
        }
    return measures


def _kappa(weighting: Weighting) -> PairMeasure:
    return lambda a, b, v, counts: cohen_kappa(confusion_tables(a, b, len(v), counts), v, weighting)


def _alpha(ratings: NDArray[np.int64], n_values: int, level: Level, counts: Counts) -> NDArray[np.float64]:
    each = coincidences(ratings, n_values)
    tables = (counts @ each.reshape(len(ratings), -1)).reshape(-1, n_values, n_values)
    return krippendorff_alpha(tables, level)


def _level(scale: str) -> Level:
    return "nominal" if scale == "binary" else "ordinal"
