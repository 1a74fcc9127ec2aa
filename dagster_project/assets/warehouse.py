"""The dbt project as assets, in the two steps that surround the estimates, and the published warehouse."""

import shutil
from collections.abc import Iterator, Mapping
from typing import Any

import dagster as dg
import duckdb
from dagster_dbt import DagsterDbtTranslator, DagsterDbtTranslatorSettings, DbtCliResource, dbt_assets
from dagster_dbt.errors import DagsterDbtCliRuntimeError

from dagster_project.failures import told_plainly
from dagster_project.lake import Lake
from dagster_project.publish import (
    PUBLISHED_SCHEMAS,
    begin_build,
    begin_marts,
    finish_build,
    finish_marts,
    publish_build,
)
from dagster_project.warehouse_project import forget_results, fresh_manifest, published_relations, what_failed

# One slot for whoever writes the working database; its limit is set in dagster.yaml.
WRITER_POOL = "warehouse_writer"
AFTER_ESTIMATES = "source:estimates+"

# Unit tests examine the SQL, not the data: they belong to the project's tests, and a build need not repeat them.
# What dbt prints ends up in a file and in Dagster's records, where escape codes of colours are noise.
BUILD = ["build", "--no-use-colors", "--exclude-resource-type", "unit_test"]


class Translator(DagsterDbtTranslator):
    """Asset keys are schema and table, as at a SQL prompt; groups are the dbt layers."""

    def get_asset_key(self, dbt_resource_props: Mapping[str, Any]) -> dg.AssetKey:
        if dbt_resource_props["resource_type"] == "source":
            return super().get_asset_key(dbt_resource_props)
        return dg.AssetKey([dbt_resource_props["schema"], dbt_resource_props["alias"]])

    def get_group_name(self, dbt_resource_props: Mapping[str, Any]) -> str | None:
        return dbt_resource_props["schema"]


manifest = fresh_manifest()
# One asset writes several source tables, so sources share asset keys.
translator = Translator(settings=DagsterDbtTranslatorSettings(enable_duplicate_source_asset_keys=True))


@dbt_assets(
    manifest=manifest, exclude=AFTER_ESTIMATES, dagster_dbt_translator=translator, name="dbt_marts", pool=WRITER_POOL
)
def dbt_marts(context: dg.AssetExecutionContext, dbt: DbtCliResource, lake: dg.ResourceParam[Lake]) -> Iterator[Any]:
    """Staging, intermediate models and marts, with their tests."""
    with lake.writer():
        if not context.is_subset:
            # A full build starts from nothing, so neither a renamed model nor a killed run leaves a trace in it.
            shutil.rmtree(lake.build, ignore_errors=True)
        begin_marts(lake)
        yield from _build(context, dbt, lake)
        if not context.is_subset:
            finish_marts(lake)


@dbt_assets(
    manifest=manifest, select=AFTER_ESTIMATES, dagster_dbt_translator=translator, name="dbt_reports", pool=WRITER_POOL
)
def dbt_reports(context: dg.AssetExecutionContext, dbt: DbtCliResource, lake: dg.ResourceParam[Lake]) -> Iterator[Any]:
    """The estimates as a mart and the report views over them, with their tests."""
    with lake.writer():
        begin_build(lake)
        yield from _build(context, dbt, lake)
        if not context.is_subset:
            finish_build(lake)


def _build(context: dg.AssetExecutionContext, dbt: DbtCliResource, lake: Lake) -> Iterator[Any]:
    """Run dbt and yield its events, tables and views of the warehouse with their row counts.

    dbt holds the database until it ends, so rows are counted then. Events that precede a failure are yielded before it
    is raised: a check that failed is what a person needs to see.
    """
    events, failure = [], None
    forget_results(lake.dbt_target)
    try:
        events.extend(dbt.cli(BUILD, context=context, target_path=lake.dbt_target).stream())
    except DagsterDbtCliRuntimeError as error:
        failure = dg.Failure(description=what_failed(lake.dbt_target, error), allow_retries=False)
    if not events:
        raise failure or RuntimeError("dbt reported nothing; its log is in the step's output")
    with duckdb.connect(lake.build_warehouse, read_only=True) as warehouse:
        for event in events:
            if isinstance(event, dg.Output):
                schema, name = context.asset_key_for_output(event.output_name).path
                if schema in PUBLISHED_SCHEMAS:
                    rows = warehouse.table(f"{schema}.{name}").count("*").fetchall()[0][0]
                    event = event.with_metadata({**event.metadata, "dagster/row_count": rows})
            yield event
    if failure:
        raise failure


@dg.asset(
    # What lies in other schemas is not published.
    deps=[key for built in (dbt_marts, dbt_reports) for key in sorted(built.keys) if key.path[0] in PUBLISHED_SCHEMAS],
    group_name="publish",
    kinds={"duckdb"},
    pool=WRITER_POOL,
)
def published_warehouse(context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]) -> dg.MaterializeResult:
    """The finished build under `warehouse.duckdb`, switched in one atomic step: what people and dashboards read."""
    with told_plainly(), lake.writer():
        build = publish_build(lake, published_relations(manifest))
    context.log.info(f"{'published' if build.changed else 'unchanged'}: {build.path}")
    return dg.MaterializeResult(
        metadata={
            "path": dg.MetadataValue.path(build.path),
            "build_id": build.build_id,
            "changed": build.changed,
            "rows": dg.MetadataValue.json(build.rows),
        }
    )
