"""Estimates by any attribute of debates and turns: models, personas, orders of speaking."""

import dagster as dg
import duckdb
import pyarrow.parquet as pq

from dagster_project import checks
from dagster_project.assets.warehouse import WRITER_POOL
from dagster_project.estimators.groups import group_gaps_table
from dagster_project.estimators.resampled import Settings
from dagster_project.lake import Lake
from dagster_project.study import Study


@dg.asset(
    deps=[dg.AssetKey(["marts", "group_similarity"])],
    pool=WRITER_POOL,
    group_name="estimates",
    kinds={"numpy", "parquet"},
    check_specs=[checks.GROUPINGS_PRESENT],
)
def group_gaps(lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]) -> dg.MaterializeResult:
    """Each group of the study's groupings against the reference group, with bootstrap intervals.

    One row per attribute, group, extractor, encoder, field and variant.
    """
    with lake.writer(), duckdb.connect(lake.build_warehouse, read_only=True) as warehouse:
        values = warehouse.sql("from marts.group_similarity").to_arrow_table()
    resampling = Settings(**settings.estimator.model_dump())
    gaps = group_gaps_table(values, settings.groupings, settings.cluster, resampling)
    with lake.replace("group_gaps") as directory:
        pq.write_table(gaps, directory / "group_gaps.parquet")
    return dg.MaterializeResult(
        metadata={"dagster/row_count": gaps.num_rows},
        check_results=[checks.groupings_present(values, settings)],
    )
