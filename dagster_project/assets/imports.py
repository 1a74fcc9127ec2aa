"""Debates in somebody else's format, brought into the archive format by the study's mapping."""

import dagster as dg

from dagster_project import checks
from dagster_project.failures import told_plainly
from dagster_project.importing import import_into
from dagster_project.lake import Lake
from dagster_project.progress import reporter
from dagster_project.study import Study


@dg.asset(group_name="archive", kinds={"json", "yaml"}, check_specs=[checks.SOURCE_READ, checks.CLAIMS_PLACED])
def imported_archive(
    context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]
) -> dg.MaterializeResult:
    """The study's foreign transcripts as an archive, with a report of what was left out and what was noticed.

    One record per debate, turn and extractor's answer. A source that has not changed gives the same archive.
    """
    with told_plainly():
        report = import_into(lake, settings.name, settings.imports, reporter(context.log, "importing", "files"))
    for line in report.lines():
        context.log.info(line)
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": report.debates,
            "turns": report.turns,
            "claims": dict(report.claims),
            "share_placed": report.share_placed,
            "sentences": report.sentences,
            "languages": dict(report.languages),
            "findings": dict(report.findings),
            "report": dg.MetadataValue.path(lake.table("imported_archive") / settings.name / "import"),
        },
        check_results=[checks.source_read(report, settings), checks.claims_placed(report)],
    )
