"""The contrasts of ``motion_contrasts`` estimated again on subsets of motions [paper A.5, A.7, F.6]."""

import pyarrow as pa
import pyarrow.compute as pc

from dagster_project.estimators.contrasts import GAP_ESTIMATES_SCHEMA, estimate_contrasts

_MOTION_SET = pa.field("motion_set", pa.string(), nullable=False)
SUBSET_GAP_ESTIMATES_SCHEMA = pa.schema([_MOTION_SET, *GAP_ESTIMATES_SCHEMA])


def estimate_subsets(
    subset_contrasts: pa.Table, n_resamples: int, seed: int, confidence: float, min_clusters: int
) -> pa.Table:
    """One row per set of motions and contrast in ``SUBSET_GAP_ESTIMATES_SCHEMA``, sorted by set.

    ``subset_contrasts`` has a column motion_set beside those that ``estimate_contrasts`` reads, which estimates each
    set by itself and says what is wrong with the input: a set of all motions gives the numbers of ``gap_estimates``.
    """
    tables = []
    for motion_set in pc.unique(subset_contrasts["motion_set"]).sort():
        members = subset_contrasts.filter(pc.equal(subset_contrasts["motion_set"], motion_set))
        estimates = estimate_contrasts(members, n_resamples, seed, confidence, min_clusters)
        tables.append(estimates.add_column(0, _MOTION_SET, pa.repeat(motion_set, len(estimates))))
    return pa.concat_tables(tables) if tables else SUBSET_GAP_ESTIMATES_SCHEMA.empty_table()
