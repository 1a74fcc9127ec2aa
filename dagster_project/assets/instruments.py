"""Instruments beside the similarity: what judges decided and pair scorers measure, and what that says about it."""

from pathlib import Path

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dagster_project import checks
from dagster_project.assets.archive import accepted, archive, argument_units
from dagster_project.assets.estimating import estimates_of, read, resampling, write
from dagster_project.assets.vectors import ARGUMENTS
from dagster_project.estimators.agreement import agreement_table
from dagster_project.estimators.alignment import alignment_table
from dagster_project.estimators.calibration import calibration_table, extraction_audit_table
from dagster_project.estimators.outcomes import outcome_associations_table
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


@estimates_of("ratings")
def agreement(lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]) -> dg.MaterializeResult:
    """How far annotators agree, judges agree with people, and a judge agrees with itself [paper F.7, F.8, G.1].

    One row per comparison, judge, dimension, language, measure and pair of raters.
    """
    (ratings,) = read(lake, "from marts.ratings")
    return write(lake, "agreement", agreement_table(ratings, resampling(settings)))


@estimates_of("extraction_audits")
def extraction_audit_rates(lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]) -> dg.MaterializeResult:
    """What the audit of the extraction found, by language and as differences [paper F.7].

    One row per dimension, condition, language and reference language.
    """
    (audits,) = read(lake, "from marts.extraction_audits")
    rates = extraction_audit_table(audits, settings.reference_language, resampling(settings))
    return write(lake, "extraction_audit_rates", rates)


@estimates_of("instrument_values")
def instrument_alignment(lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]) -> dg.MaterializeResult:
    """How well encoders, scorers and judges rank pairs as people label them [paper F.8].

    One row per instrument, field, language and measure.
    """
    (values,) = read(lake, "from marts.instrument_values")
    return write(lake, "instrument_alignment", alignment_table(values, resampling(settings)))


@estimates_of("adjudicated_labels", "calibration_pairs")
def calibration(lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]) -> dg.MaterializeResult:
    """Rates of repetition, of the labelled pairs and carried over to all pairs by similarity [paper 4.3, F.8].

    One row per quantity, collapse, encoder, field, bin, language and reference language.
    """
    labels, pairs = read(lake, "from marts.adjudicated_labels", "from marts.calibration_pairs")
    rates = calibration_table(
        labels.filter(pc.field("in_analysis")), pairs, settings.reference_language, resampling(settings)
    )
    return write(lake, "calibration", rates)


@estimates_of("session_outcomes", "outcome_contrasts")
def outcome_associations(lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]) -> dg.MaterializeResult:
    """Similarity against judged quality, and what a condition buys in each language [paper 4.5, G.2, G.3].

    One row per analysis and what it is about.
    """
    sessions, contrasts = read(lake, "from marts.session_outcomes", "from marts.outcome_contrasts")
    associations = outcome_associations_table(sessions, contrasts, settings.baseline_condition, resampling(settings))
    return write(lake, "outcome_associations", associations)


ESTIMATES = [agreement, extraction_audit_rates, instrument_alignment, calibration, outcome_associations]


def _labelled_pairs(archive_tables: Path) -> pa.Table:
    """The pairs that annotators and judges have labelled."""
    tables = [pq.read_table(archive_tables / f"{name}.parquet", columns=PAIR) for name in ("annotations", "judgments")]
    table = pa.concat_tables(tables)
    return table.filter(pc.and_(*(pc.is_valid(table[name]) for name in PAIR)))
