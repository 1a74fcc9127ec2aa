"""What Dagster sees."""

import dagster as dg

from dagster_project.assets import (
    archive,
    diagnostics,
    estimates,
    generation,
    groups,
    imports,
    instruments,
    report,
    vectors,
    warehouse,
)
from dagster_project.automation import archive_watch
from dagster_project.console import terminal
from dagster_project.lake import resolve_lake
from dagster_project.settings import encoder_specs, scorer_specs, settings
from dagster_project.warehouse_project import dbt_resource, point_dbt_at

# Runs with this tag wait for each other; the limit is set in dagster.yaml.
ONE_AT_A_TIME = "reprise/one_at_a_time"

lake = resolve_lake(settings.lake)
point_dbt_at(lake)

everything = dg.AssetSelection.all()
reading = dg.AssetSelection.assets(archive.archive_part)
encoder_assets = [vectors.vectors_asset(spec) for spec in encoder_specs]
max_prior_pairs = vectors.pairs_asset(encoder_specs, encoder_assets)

# A study of somebody else's transcripts has one asset more, which writes the archive that the others read.
importing = [imports.imported_archive] if settings.imports else []
whole_archive = archive.archive.map_asset_specs(
    lambda spec: spec.merge_attributes(deps=[asset.key for asset in importing])
)

# A study that makes its own debates has assets that cost money, so nothing else asks for them.
generating = generation.assets_of(settings)
spending = dg.AssetSelection.assets(*generating) if generating else dg.AssetSelection.keys()
spending_jobs = (
    [dg.define_asset_job("generate_study", spending, description="Makes the study's debates. Costs money.")]
    if generating
    else []
)

definitions = dg.Definitions(
    assets=[
        archive.study,
        *importing,
        *generating,
        generation.ledger,
        archive.archive_part,
        whole_archive,
        archive.argument_units,
        *encoder_assets,
        max_prior_pairs,
        vectors.null_asset(encoder_specs, encoder_assets),
        instruments.judgments,
        instruments.pair_scores_asset(scorer_specs, encoder_specs, max_prior_pairs),
        warehouse.dbt_marts,
        *estimates.ESTIMATES,
        *diagnostics.ESTIMATES,
        groups.group_gaps,
        *instruments.ESTIMATES,
        warehouse.dbt_reports,
        warehouse.published_warehouse,
        report.study_report,
    ],
    jobs=[
        dg.define_asset_job(
            "whole_study",
            everything - reading - spending,
            description="From archive files to the published warehouse; reads whichever parts are new or changed.",
            tags={ONE_AT_A_TIME: "true"},
        ),
        dg.define_asset_job("read_archive", reading, description="Reads one part of the archive."),
        *spending_jobs,
    ],
    sensors=[archive_watch],
    # As on the command line. A process a step would start two dozen times, and each start takes longer than most steps.
    executor=dg.in_process_executor,
    resources={"lake": lake, "settings": settings, "dbt": dbt_resource},
    loggers={"console": dg.colored_console_logger, "terminal": terminal},
)
