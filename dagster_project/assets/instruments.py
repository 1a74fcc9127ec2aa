"""Instruments beside the similarity: what judges decided and pair scorers measure, and what that says about it."""

from pathlib import Path

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dagster_project import checks
from dagster_project.assets.archive import accepted, archive, argument_units
from dagster_project.assets.vectors import ARGUMENTS
from dagster_project.failures import told_plainly
from dagster_project.lake import Lake
from dagster_project.progress import reporter
from dagster_project.study import Study
from embeddings.rescore import write_pair_scores
from embeddings.scorers import ScorerSpec
from embeddings.spec import EncoderSpec
from embeddings.store import VectorStore
from ingest.judge import parse_judgments

PAIR = ["argument_id", "nearest_argument_id"]


@dg.asset(deps=[archive], group_name="instruments", kinds={"parquet"}, check_specs=[checks.JUDGMENTS_PARSED])
def judgments(context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]) -> dg.MaterializeResult:
    """The judges' answers as labels, functions and scores, or as failures with a reason. One row per judgment."""
    with told_plainly(), lake.replace("judgments") as directory:
        report = parse_judgments(
            accepted(lake.table("archive")), directory, reporter(context.log, "reading judgments", "judgments")
        )
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": report.n_judgments,
            "judgments": dict(report.judgments),
            "failures": report.n_failed,
        },
        check_results=[checks.judgments_parsed(report)],
    )


def pair_scores_asset(
    scorers: list[ScorerSpec], encoders: list[EncoderSpec], pairs: dg.AssetsDefinition
) -> dg.AssetsDefinition:
    """The asset that scores pairs with every scorer of the study, and labelled pairs with every encoder."""

    @dg.asset(deps=[archive, argument_units, pairs], group_name="instruments", kinds={"parquet", "python"})
    def pair_scores(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]
    ) -> dg.MaterializeResult:
        """Nearest earlier arguments and labelled pairs by other yardsticks than the cosine that found them [paper F.3].

        One row per pair, extractor, field and scorer.
        """
        with told_plainly(), lake.replace("pair_scores") as directory:
            report = write_pair_scores(
                lake.table("argument_units") / ARGUMENTS,
                lake.table("max_prior_pairs"),
                _labelled_pairs(accepted(lake.table("archive"))),
                scorers,
                {spec.name: VectorStore(lake.vectors, spec) for spec in encoders},
                settings.fields,
                directory,
                reporter(context.log, "scoring pairs", "scores"),
            )
        return dg.MaterializeResult(
            metadata={
                "dagster/row_count": sum(report.scores.values()),
                "scores": dict(report.scores),
                "labelled_pairs": report.labelled_pairs,
                "labelled_pairs_without_arguments": report.labelled_pairs_without_arguments,
            }
        )

    return pair_scores


def _labelled_pairs(archive_tables: Path) -> pa.Table:
    """The pairs that annotators and judges have labelled."""
    tables = [pq.read_table(archive_tables / f"{name}.parquet", columns=PAIR) for name in ("annotations", "judgments")]
    table = pa.concat_tables(tables)
    return table.filter(pc.and_(*(pc.is_valid(table[name]) for name in PAIR)))
