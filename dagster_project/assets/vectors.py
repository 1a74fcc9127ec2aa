"""Vectors of the argument units, one asset per encoder, and each argument's nearest earlier one."""

import dagster as dg

from dagster_project.assets.archive import accepted, archive, argument_units
from dagster_project.failures import told_plainly
from dagster_project.lake import Lake
from dagster_project.progress import reporter
from dagster_project.study import Study
from embeddings.encode import encode_arguments
from embeddings.null import write_null_maxima
from embeddings.pairs import write_max_prior_pairs
from embeddings.spec import EncoderSpec
from embeddings.store import VectorStore

ARGUMENTS = "arguments.parquet"
SESSIONS = "sessions.parquet"


def vectors_asset(spec: EncoderSpec) -> dg.AssetsDefinition:
    """The asset that encodes with one encoder."""

    @dg.asset(
        key=["vectors", spec.name.replace("-", "_").replace(".", "_")],
        deps=[argument_units],
        group_name="vectors",
        kinds={"parquet", "python"},
        description=f"The texts of all argument units as vectors of {spec.model} ({spec.name}); each distinct text is "
        "encoded once. One row per distinct text.",
        metadata={
            "encoder": spec.name,
            "backend": spec.backend,
            "revision": spec.revision,
            "prefix": repr(spec.prefix),
        },
    )
    def vectors(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]
    ) -> dg.MaterializeResult:
        with told_plainly():
            report = encode_arguments(
                lake.table("argument_units") / ARGUMENTS,
                spec,
                settings.fields,
                VectorStore(lake.vectors, spec),
                reporter(context.log, f"encoding with {spec.name}", "texts"),
            )
        context.log.info(f"{spec.name}: {report.encoded:,} texts encoded, {report.reused:,} known")
        return dg.MaterializeResult(
            metadata={
                "dagster/row_count": report.texts,
                "encoded": report.encoded,
                "reused": report.reused,
                "over_max_length": report.over_max_length,
                "with_nul_replaced": report.with_nul_replaced,
                "seconds": report.seconds,
                "encoder_key": report.encoder_key,
                "computed_with": [vars(provenance) for provenance in report.provenances],
            }
        )

    return vectors


def pairs_asset(specs: list[EncoderSpec], vectors: list[dg.AssetsDefinition]) -> dg.AssetsDefinition:
    """The asset that finds each argument's nearest earlier argument with every encoder of the study."""

    @dg.asset(deps=[argument_units, *vectors], group_name="vectors", kinds={"parquet", "python"})
    def max_prior_pairs(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]
    ) -> dg.MaterializeResult:
        """Each argument's most similar argument of an earlier turn of its session [paper 3.3].

        One row per argument, extractor, encoder and field.
        """
        with told_plainly(), lake.replace("max_prior_pairs") as directory:
            report = write_max_prior_pairs(
                lake.table("argument_units") / ARGUMENTS,
                {spec.name: VectorStore(lake.vectors, spec) for spec in specs},
                settings.fields,
                directory,
                reporter(context.log, "nearest earlier arguments", "arguments"),
            )
        return dg.MaterializeResult(
            metadata={
                "dagster/row_count": sum(encoder.pairs for encoder in report.encoders),
                "arguments": report.arguments,
                "without_prior_pool": {encoder.encoder: encoder.without_prior_pool for encoder in report.encoders},
                "over_max_length": {encoder.encoder: encoder.over_max_length for encoder in report.encoders},
                "seconds": report.seconds,
            }
        )

    return max_prior_pairs


def null_asset(specs: list[EncoderSpec], vectors: list[dg.AssetsDefinition]) -> dg.AssetsDefinition:
    """The asset that compares each argument with debates about other motions, with every encoder of the study."""

    @dg.asset(deps=[archive, argument_units, *vectors], group_name="vectors", kinds={"parquet", "python"})
    def null_maxima(
        context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]
    ) -> dg.MaterializeResult:
        """How near each turn's arguments come to what other motions' debates hold before that turn [paper 3.4, F.1].

        One row per turn, extractor, encoder, field and session of another motion.
        """
        with told_plainly(), lake.replace("null_maxima") as directory:
            report = write_null_maxima(
                lake.table("argument_units") / ARGUMENTS,
                accepted(lake.table("archive")) / SESSIONS,
                {spec.name: VectorStore(lake.vectors, spec) for spec in specs},
                settings.fields,
                settings.estimator.seed,
                directory,
                reporter(context.log, "debates about other motions", "sessions"),
            )
        return dg.MaterializeResult(
            metadata={
                "dagster/row_count": sum(report.rows.values()),
                "draws": report.draws,
                "sessions": report.sessions,
                "sessions_without_another_motion": report.sessions_without_another_motion,
            }
        )

    return null_maxima
