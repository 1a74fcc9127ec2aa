"""Estimates with their intervals: the estimators applied to the marts."""

import dagster as dg
import duckdb
import pyarrow.parquet as pq

from dagster_project.assets.warehouse import WRITER_POOL
from dagster_project.estimators.contrasts import estimate_contrasts
from dagster_project.lake import Lake
from dagster_project.study import Study


@dg.asset(
    deps=[dg.AssetKey(["marts", "motion_contrasts"])],
    # It reads the working database, which admits one process at a time.
    pool=WRITER_POOL,
    group_name="estimates",
    kinds={"numpy", "parquet"},
)
def gap_estimates(lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]) -> dg.MaterializeResult:
    """Every contrast's mean over motions with its bootstrap interval [paper 3.6, E.1]. One row per contrast."""
    with lake.writer(), duckdb.connect(lake.build_warehouse, read_only=True) as warehouse:
        differences = warehouse.sql("from marts.motion_contrasts").to_arrow_table()
    estimates = estimate_contrasts(differences, **settings.estimator.model_dump())
    with lake.replace("gap_estimates") as directory:
        pq.write_table(estimates, directory / "gap_estimates.parquet")
    statuses = estimates["interval_status"].value_counts().to_pylist()
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": estimates.num_rows,
            "motions": max(estimates["n_motions"].to_pylist(), default=0),
            "resamples": settings.estimator.n_resamples,
            "seed": settings.estimator.seed,
            "intervals": {status["values"]: status["counts"] for status in statuses},
        }
    )
