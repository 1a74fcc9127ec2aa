"""Estimates with their intervals: the estimators applied to the marts."""

import dagster as dg

from dagster_project.assets.estimating import estimates_of, read, resampling, write
from dagster_project.estimators.contrasts import estimate_contrasts
from dagster_project.estimators.encoder_agreement import encoder_agreement_table
from dagster_project.estimators.regression import regression_table
from dagster_project.estimators.repeats import repeat_noise_table
from dagster_project.estimators.tails import tail_rates_table
from dagster_project.lake import Lake
from dagster_project.study import Study

# Each nearest pair by the encoder that found it, and by the pair scorers that scored it since.
TAIL_VALUES = """
    with pairs as (
        select max_prior_pairs.*
        from marts.max_prior_pairs
        join marts.sessions using (session_id)
        where in_analysis and similarity is not null
    )
    select condition, extractor, encoder, field, encoder as scorer, motion_id, language, similarity as value
    from pairs
    union all
    select
        pairs.condition, pairs.extractor, pairs.encoder, pairs.field, pair_scores.scorer, pairs.motion_id,
        pairs.language, pair_scores.score as value
    from pairs
    join marts.pair_scores using (argument_id, nearest_argument_id, extractor, field)
    join marts.scorers on scorers.scorer = pair_scores.scorer
    order by all
"""
SCORED_TURNS = """
    select turn_similarity.*
    from marts.turn_similarity
    join marts.sessions using (session_id)
    where in_analysis and variant = 'raw' and mean_arg_max_prev is not null
"""
SESSION_VALUES = """
    unpivot (
        select extractor, encoder, field, variant, motion_id, language, condition, agent_mean, turn_mean
        from marts.session_similarity
        where variant = 'raw'
        order by session_id
    ) on agent_mean, turn_mean into name aggregate value similarity
"""


@estimates_of("motion_contrasts")
def gap_estimates(lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]) -> dg.MaterializeResult:
    """Every contrast's mean over motions with its bootstrap interval [paper 3.6, E.1]. One row per contrast."""
    (differences,) = read(lake, "from marts.motion_contrasts")
    return write(lake, "gap_estimates", estimate_contrasts(differences, **settings.estimator.model_dump()))


@estimates_of("regression_turns")
def regression_estimates(lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]) -> dg.MaterializeResult:
    """Similarity of turns regressed on language, alone and with what else could explain it [paper E.2, F.5].

    One row per specification, term, language and measure.
    """
    (turns,) = read(lake, "from marts.regression_turns order by all")
    return write(
        lake, "regression_estimates", regression_table(turns, settings.reference_language, resampling(settings))
    )


@estimates_of("max_prior_pairs", "pair_scores", "scorers", "sessions")
def tail_rates(lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]) -> dg.MaterializeResult:
    """How often pairs reach the high tail of encoders and pair scorers, by language [paper 4.3, F.3].

    One row per measure, scorer, percentile, language and quantity.
    """
    (values,) = read(lake, TAIL_VALUES)
    return write(lake, "tail_rates", tail_rates_table(values, settings.reference_language, resampling(settings)))


@estimates_of("turn_similarity", "sessions")
def encoder_agreement(lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]) -> dg.MaterializeResult:
    """Whether encoders agree on which turns are similar to what came before [paper F.2].

    One row per language, condition, extractor, field and pair of encoders.
    """
    (turns,) = read(lake, SCORED_TURNS)
    return write(lake, "encoder_agreement", encoder_agreement_table(turns, resampling(settings)))


@estimates_of("session_similarity")
def repeat_noise(lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]) -> dg.MaterializeResult:
    """How far repeats of one debate differ [paper E.8, E.9]. One row per measure and language."""
    (sessions,) = read(lake, SESSION_VALUES)
    return write(lake, "repeat_noise", repeat_noise_table(sessions, resampling(settings)))


ESTIMATES = [gap_estimates, regression_estimates, tail_rates, encoder_agreement, repeat_noise]
