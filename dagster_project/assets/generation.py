"""Debates that models make for the study, and the ledger of the calls that this takes."""

from collections.abc import Iterable

import dagster as dg

from dagster_project import checks
from dagster_project.failures import told_plainly
from dagster_project.generating import LEDGER, Outcome, Work, show_ledger, write_ledger
from dagster_project.lake import Lake
from dagster_project.planning import plan_of
from dagster_project.progress import reporter
from dagster_project.study import Study


@dg.asset(group_name="archive", kinds={"sqlite", "parquet"})
def ledger(lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]) -> dg.MaterializeResult:
    """Every call to a model, and what has become of each planned debate; empty tables where nothing was generated.

    One row per attempt, run and planned debate, in a table each. A run may go on meanwhile.
    """
    plan = plan_of(settings) if settings.generation else None
    with told_plainly(), lake.replace(LEDGER) as directory:
        rows = write_ledger(plan, directory)
    if plan is not None:
        show_ledger(plan, lake)
    return dg.MaterializeResult(metadata={"dagster/row_count": rows["calls"], **rows})


@dg.asset(group_name="generate", kinds={"litellm", "json"}, check_specs=[checks.MOTIONS_TRANSLATED])
def motion_translations(
    context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]
) -> dg.MaterializeResult:
    """The study's motions in its languages, each translation put back and judged. Costs money."""
    with told_plainly():
        outcomes = _told(context, _work(context, lake, settings).translate())
    return _result(outcomes, checks.MOTIONS_TRANSLATED)


@dg.asset(group_name="generate", kinds={"litellm", "json"}, check_specs=[checks.DEBATES_COMPLETE])
def debates(
    context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]
) -> dg.MaterializeResult:
    """What is left of the study's debates, in all its phases, held and written into its archive. Costs money."""
    with told_plainly():
        outcomes = _told(context, _work(context, lake, settings).generate())
    return _result(outcomes, checks.DEBATES_COMPLETE)


@dg.asset(deps=[debates], group_name="generate", kinds={"litellm", "json"}, check_specs=[checks.SPEECHES_EXTRACTED])
def extractions(
    context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]
) -> dg.MaterializeResult:
    """The speeches of the study's debates taken apart by its extractors, as far as they are there. Costs money."""
    with told_plainly():
        outcomes = _told(context, _work(context, lake, settings).extract())
    return _result(outcomes, checks.SPEECHES_EXTRACTED)


def assets_of(settings: Study) -> list[dg.AssetsDefinition]:
    """The assets that make a study's debates: those that its phases give something to do."""
    if settings.generation is None:
        return []
    kinds = {phase.kind for phase in settings.generation.phases.values()}
    translating = [motion_translations] if "translation" in kinds else []
    holding = debates.map_asset_specs(lambda spec: spec.merge_attributes(deps=[one.key for one in translating]))
    has_extractors = settings.generation.extractors or "extraction" in kinds
    return [
        *translating,
        *([holding] if kinds & {"debates", "decoding"} else []),
        *([extractions] if has_extractors else []),
    ]


def _work(context: dg.AssetExecutionContext, lake: Lake, settings: Study) -> Work:
    return Work(plan_of(settings), lake, lambda what, unit: reporter(context.log, what, unit))


def _told(context: dg.AssetExecutionContext, outcomes: Iterable[Outcome]) -> list[Outcome]:
    told = []
    for outcome in outcomes:
        context.log.info(outcome.line)
        told.append(outcome)
    return told


def _result(outcomes: list[Outcome], check: dg.AssetCheckSpec) -> dg.MaterializeResult:
    return dg.MaterializeResult(
        metadata={"done": [outcome.line for outcome in outcomes]}, check_results=[checks.work_done(check, outcomes)]
    )
