"""From the mart ``motion_contrasts`` to the table ``gap_estimates``: one bootstrapped mean per contrast."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dagster_project.estimators.bootstrap import TIE, cluster_bootstrap_means, interval_note
from dagster_project.estimators.resampled import INTERVAL_FIELDS

# A contrast is one combination of these; `agent` and the reference columns are NULL where they do not apply.
_KEY_FIELDS = [
    pa.field("contrast", pa.string(), nullable=False),
    pa.field("language", pa.string(), nullable=False),
    pa.field("reference_language", pa.string()),
    pa.field("condition", pa.string(), nullable=False),
    pa.field("reference_condition", pa.string()),
    pa.field("agent", pa.string()),
    pa.field("reference_agent", pa.string()),
    pa.field("extractor", pa.string(), nullable=False),
    pa.field("encoder", pa.string(), nullable=False),
    pa.field("field", pa.string(), nullable=False),
    pa.field("variant", pa.string(), nullable=False),
    pa.field("aggregate", pa.string(), nullable=False),
]
_KEYS = [field.name for field in _KEY_FIELDS]

MOTION_CONTRASTS_SCHEMA = pa.schema(
    [
        *_KEY_FIELDS,
        pa.field("motion_id", pa.string(), nullable=False),
        pa.field("difference", pa.float64()),
    ]
)

GAP_ESTIMATES_SCHEMA = pa.schema([*_KEY_FIELDS, *INTERVAL_FIELDS])


def estimate_contrasts(
    motion_contrasts: pa.Table, n_resamples: int, seed: int, confidence: float, min_clusters: int
) -> pa.Table:
    """One row per contrast of ``motion_contrasts`` in ``GAP_ESTIMATES_SCHEMA``, sorted by the contrast's columns.

    ``motion_contrasts`` has the columns of ``MOTION_CONTRASTS_SCHEMA`` (others are ignored), one row per contrast and
    motion in any order. A NULL difference means that the contrast lacks this motion: it does not count in
    ``n_motions``. A difference below ``TIE`` is rounding and counts as 0. A contrast without any motion keeps its row,
    with a NULL estimate. Whatever is NULL in ``ci_low``, ``ci_high`` and ``ci_excludes_zero``, or is less certain than
    usual, has its reason in ``interval_note``.

    Raises ValueError for a missing column, a NULL in a column that must be filled, a NaN or infinite difference, and
    two rows for one contrast and motion.
    """
    table = _checked(motion_contrasts)
    contrasts, differences = _differences_by_motion(table)
    # Cosines of identical texts differ in their last bit, and a bit is no reason to say that an interval excludes zero.
    differences[np.abs(differences) < TIE] = 0.0
    has_motions = ~np.isnan(differences).all(axis=0)
    result = cluster_bootstrap_means(differences[:, has_motions], n_resamples, seed, confidence, min_clusters)

    n_motions = _spread(result.n_clusters, has_motions, 0)
    status = _spread(np.array(result.interval_status, dtype=object), has_motions, "no_interval")
    no_estimate = ~has_motions
    no_interval = status == "no_interval"
    columns = {
        **{key: contrasts[key] for key in _KEYS},
        "estimate": pa.array(_spread(result.estimate, has_motions, np.nan), mask=no_estimate),
        "ci_low": pa.array(_spread(result.ci_low, has_motions, np.nan), mask=no_interval),
        "ci_high": pa.array(_spread(result.ci_high, has_motions, np.nan), mask=no_interval),
        "ci_excludes_zero": pa.array(_spread(result.ci_excludes_zero, has_motions, False), mask=no_interval),
        "n_motions": pa.array(n_motions),
        "n_resamples": pa.repeat(result.n_resamples, len(contrasts)),
        "seed": pa.repeat(result.seed, len(contrasts)),
        "interval_status": pa.array(status, pa.string()),
        "interval_note": pa.array([_note(n, min_clusters) for n in n_motions.tolist()], pa.string()),
    }
    return pa.table(columns, schema=GAP_ESTIMATES_SCHEMA)


def _checked(motion_contrasts: pa.Table) -> pa.Table:
    missing = [name for name in MOTION_CONTRASTS_SCHEMA.names if name not in motion_contrasts.column_names]
    if missing:
        raise ValueError(f"motion_contrasts lacks the columns {', '.join(missing)}")
    table = motion_contrasts.select(MOTION_CONTRASTS_SCHEMA.names)
    for field in MOTION_CONTRASTS_SCHEMA:
        if not field.nullable and table[field.name].null_count:
            first = table.filter(pc.is_null(table[field.name])).slice(0, 1).to_pylist()[0]
            raise ValueError(f"motion_contrasts.{field.name} must not be NULL, but it is in {_described(first)}")
    table = table.cast(MOTION_CONTRASTS_SCHEMA)

    not_finite = table.filter(pc.invert(pc.is_finite(table["difference"])))
    if len(not_finite):
        first = not_finite.slice(0, 1).to_pylist()[0]
        raise ValueError(f"motion_contrasts.difference must be finite or NULL, but it is not in {_described(first)}")

    rows = table.group_by([*_KEYS, "motion_id"]).aggregate([([], "count_all")])
    repeated = rows.filter(pc.greater(rows["count_all"], 1))
    if len(repeated):
        first = repeated.sort_by([(name, "ascending") for name in [*_KEYS, "motion_id"]]).slice(0, 1).to_pylist()[0]
        raise ValueError(
            f"motion_contrasts must have one row per contrast and motion, but {first.pop('count_all')} rows are "
            f"{_described(first)}; average repeats first"
        )
    return table


def _differences_by_motion(table: pa.Table) -> tuple[pa.Table, NDArray[np.float64]]:
    """The contrasts, sorted, and their differences: one row per motion in the order of ids, NaN where absent."""
    contrasts = (
        table.group_by(_KEYS, use_threads=False)
        .aggregate([("motion_id", "list"), ("difference", "list")])
        .sort_by([(key, "ascending") for key in _KEYS])
        .combine_chunks()
    )
    motion_ids = pc.list_flatten(contrasts["motion_id_list"])
    motions = pc.unique(motion_ids).sort()
    row = pc.index_in(motion_ids, value_set=motions).to_numpy()
    column = np.repeat(np.arange(len(contrasts)), pc.list_value_length(contrasts["motion_id_list"]).to_numpy())

    differences = np.full((len(motions), len(contrasts)), np.nan)
    differences[row, column] = pc.list_flatten(contrasts["difference_list"]).to_numpy()
    return contrasts.select(_KEYS), differences


def _spread(values: NDArray, where: NDArray[np.bool_], elsewhere: float | str) -> NDArray:
    """``values`` at the true places of ``where``, ``elsewhere`` at the others."""
    spread = np.full(where.shape, elsewhere, dtype=values.dtype)
    spread[where] = values
    return spread


def _note(n_motions: int, min_clusters: int) -> str | None:
    if n_motions == 0:
        return "No motion has both sides of this contrast, so there is neither an estimate nor an interval."
    return interval_note(n_motions, min_clusters)


def _described(row: dict[str, object]) -> str:
    return ", ".join(f"{name} {value!r}" for name, value in row.items() if value is not None)
