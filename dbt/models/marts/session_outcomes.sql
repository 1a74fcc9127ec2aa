with

study as (

    select * from {{ ref('study') }}

),

outcome_scores as (

    select * from {{ ref('outcome_scores') }} where score is not null and round = 1

),

session_similarity as (

    select * from {{ ref('session_similarity') }}

),

-- The plain measure beside the judge's first scores; later rounds say how far the judge can be trusted.
final as (

    select
        session_similarity.session_id,
        outcome_scores.judge,
        outcome_scores.dimension,
        session_similarity.extractor,
        session_similarity.encoder,
        session_similarity.field,

        session_similarity.motion_id,
        session_similarity.language,
        session_similarity.condition,
        session_similarity.repeat,

        outcome_scores.score,
        session_similarity.agent_mean as similarity,

    from session_similarity
    join study on study.primary_extractor = session_similarity.extractor
    join outcome_scores on outcome_scores.session_id = session_similarity.session_id
    where session_similarity.variant = 'raw'

)

select * from final
