"""The published warehouse as a document and as figures in files."""

import dagster as dg

from dagster_project.assets.warehouse import published_warehouse
from dagster_project.lake import STUDY_REPORT, Lake


@dg.asset(deps=[published_warehouse], group_name="publish", kinds={"html", "markdown", "altair"})
def study_report(context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]) -> dg.MaterializeResult:
    """The study in one HTML file, the same in Markdown, and figures 1 to 4 as SVG and PNG with the numbers behind them.

    Made from the published warehouse alone; the same warehouse gives the same files.
    """
    # Charts and pages are loaded where they are needed: whatever else reads the graph starts without them.
    from dashboards.report import write_report

    with lake.replace(STUDY_REPORT) as directory:
        write_report(lake.warehouse, directory)
    written = lake.table(STUDY_REPORT)
    context.log.info(f"report: {written / 'report.html'}")
    return dg.MaterializeResult(
        metadata={
            "report": dg.MetadataValue.path(written / "report.html"),
            "markdown": dg.MetadataValue.path(written / "report.md"),
            "figures": [str(file.relative_to(written)) for file in sorted(written.glob("figures/*"))],
        }
    )
