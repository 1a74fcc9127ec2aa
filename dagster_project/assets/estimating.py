"""What every asset of estimates does around its estimator: read the marts, write the table, say how it went."""

from collections.abc import Callable, Sequence

import dagster as dg
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from dagster_project.assets.warehouse import WRITER_POOL
from dagster_project.estimators.resampled import Settings
from dagster_project.lake import Lake
from dagster_project.study import Study


def estimates_of(*marts: str, check_specs: Sequence[dg.AssetCheckSpec] = ()) -> Callable[..., dg.AssetsDefinition]:
    """Makes a function an asset of estimates from these marts."""
    return dg.asset(
        deps=[dg.AssetKey(["marts", mart]) for mart in marts],
        # It reads the working database, which admits one process at a time.
        pool=WRITER_POOL,
        group_name="estimates",
        kinds={"numpy", "parquet"},
        check_specs=check_specs,
    )


def read(lake: Lake, *queries: str) -> list[pa.Table]:
    """What these queries find in the marts of the working database, which admits one process at a time."""
    with lake.writer(), duckdb.connect(lake.build_warehouse, read_only=True) as warehouse:
        return [warehouse.sql(query).to_arrow_table() for query in queries]


def write(
    lake: Lake, name: str, estimates: pa.Table, check_results: Sequence[dg.AssetCheckResult] = ()
) -> dg.MaterializeResult:
    """Make `estimates` the lake's table `name`."""
    with lake.replace(name) as directory:
        pq.write_table(estimates, directory / f"{name}.parquet")
    statuses = estimates["interval_status"].value_counts().to_pylist()
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": estimates.num_rows,
            "intervals": {status["values"]: status["counts"] for status in statuses},
        },
        check_results=check_results,
    )


def resampling(settings: Study) -> Settings:
    """How the study resamples."""
    return Settings(**settings.estimator.model_dump())
