with

study as (

    select * from {{ ref('study') }}

),

scores as (

    select * from {{ ref('outcome_scores') }} where score is not null and round = 1

),

sessions as (

    select * from {{ ref('int_sessions') }} where in_analysis

),

-- Repeats are averaged first, as they are for similarity.
cells as (

    select
        scores.judge,
        scores.dimension,
        scores.motion_id,
        scores.language,
        scores.condition,
        avg(scores.score order by scores.session_id) as score,

    from scores
    join sessions on sessions.session_id = scores.session_id
    group by all

),

condition_effects as (

    select
        'condition_effect' as analysis,
        cells.* exclude (score),
        baseline.condition as reference_condition,
        cells.score - baseline.score as difference,

    from cells
    cross join study
    join cells as baseline
        on baseline.judge = cells.judge
        and baseline.dimension = cells.dimension
        and baseline.motion_id = cells.motion_id
        and baseline.language = cells.language
        and baseline.condition = study.baseline_condition
    where cells.condition <> study.baseline_condition

),

-- The effect in a language minus the effect in the reference language, within motion.
differences_in_differences as (

    select
        'difference_in_differences' as analysis,
        effects.* exclude (analysis, difference),
        reference.language as reference_language,
        effects.difference - reference.difference as difference,

    from condition_effects as effects
    cross join study
    join condition_effects as reference
        on reference.judge = effects.judge
        and reference.dimension = effects.dimension
        and reference.motion_id = effects.motion_id
        and reference.condition = effects.condition
        and reference.language = study.reference_language
    where effects.language <> study.reference_language

),

language_gaps as (

    select
        'language_gap' as analysis,
        cells.* exclude (score),
        reference.language as reference_language,
        cells.score - reference.score as difference,

    from cells
    cross join study
    join cells as reference
        on reference.judge = cells.judge
        and reference.dimension = cells.dimension
        and reference.motion_id = cells.motion_id
        and reference.condition = cells.condition
        and reference.language = study.reference_language
    where cells.language <> study.reference_language

),

contrasts as (

    select * from condition_effects
    union all by name
    select * from differences_in_differences
    union all by name
    select * from language_gaps

),

final as (

    select
        analysis,
        judge,
        dimension,
        language,
        reference_language,
        condition,
        reference_condition,

        motion_id,

        difference,

    from contrasts

)

select * from final
