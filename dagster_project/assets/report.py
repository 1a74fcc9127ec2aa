"""The published warehouse as a document and as figures in files."""

import hashlib

import dagster as dg

from dagster_project.assets.warehouse import published_warehouse
from dagster_project.lake import PROJECT_ROOT, STUDY_REPORT, Lake

# Beside a report: the published file and the code that it was made of.
MADE_OF = "made_of"


@dg.asset(deps=[published_warehouse], group_name="publish", kinds={"html", "markdown", "altair"})
def study_report(context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]) -> dg.MaterializeResult:
    """The study in one HTML file, the same in Markdown, and figures 1 to 4 as SVG and PNG with the numbers behind them.

    Made from the published warehouse alone; the same warehouse gives the same files.
    """
    made_of = f"{lake.warehouse.resolve().name} {_code_digest()}"
    changed = not lake.is_whole(STUDY_REPORT) or (lake.table(STUDY_REPORT) / MADE_OF).read_text() != made_of
    if changed:
        # Charts and pages are loaded where they are needed: whatever else reads the graph starts without them.
        from dashboards.report import write_report

        with lake.replace(STUDY_REPORT) as directory:
            write_report(lake.warehouse, directory)
            (directory / MADE_OF).write_text(made_of)
    written = lake.table(STUDY_REPORT)
    context.log.info(f"{'report' if changed else 'unchanged'}: {written / 'report.html'}")
    return dg.MaterializeResult(
        metadata={
            "report": dg.MetadataValue.path(written / "report.html"),
            "markdown": dg.MetadataValue.path(written / "report.md"),
            "figures": [str(file.relative_to(written)) for file in sorted(written.glob("figures/*"))],
        }
    )


def _code_digest() -> str:
    room = PROJECT_ROOT / "dashboards"
    files = sorted(path for path in room.rglob("*") if path.suffix in (".py", ".sql", ".jinja"))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()[:16]
