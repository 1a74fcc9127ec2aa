with

study as (

    select * from {{ ref('stg_study__study') }}

),

sessions as (

    select * from {{ ref('int_sessions') }}

),

turns as (

    select * from {{ ref('turns') }}

),

arguments as (

    select * from {{ ref('arguments') }}

),

turn_similarity as (

    select * from {{ ref('turn_similarity') }}

),

extracted as (

    select
        session_id,
        turn_index,
        extractor,
        avg(length(claim) order by argument_index) as mean_claim_length,
        avg((warrant = '')::int order by argument_index) as empty_warrant_rate,
        avg((evidence_or_example = '')::int order by argument_index) as empty_evidence_rate,

    from arguments
    group by all

),

-- A regression needs every column, so a turn whose agent or phase nobody recorded stands under an empty name.
final as (

    select
        turn_similarity.session_id,
        turn_similarity.turn_index,
        turn_similarity.extractor,
        turn_similarity.encoder,
        turn_similarity.field,
        turn_similarity.variant,

        turn_similarity.motion_id,
        turn_similarity.language,
        turn_similarity.condition,

        coalesce(turn_similarity.phase, '') as phase,
        coalesce(turn_similarity.agent, '') as agent,
        coalesce(turn_similarity.role, '') as role,
        coalesce(turn_similarity.side, '') as side,

        turn_similarity.mean_arg_max_prev,
        extracted.mean_claim_length,
        turn_similarity.n_arguments,
        extracted.empty_warrant_rate,
        extracted.empty_evidence_rate,
        turn_similarity.prior_pool_size,
        turns.sentence_count,

    from turn_similarity
    cross join study
    join sessions on sessions.session_id = turn_similarity.session_id
    join turns
        on turns.session_id = turn_similarity.session_id
        and turns.turn_index = turn_similarity.turn_index
    join extracted
        on extracted.session_id = turn_similarity.session_id
        and extracted.turn_index = turn_similarity.turn_index
        and extracted.extractor = turn_similarity.extractor
    where sessions.in_analysis
        and turn_similarity.condition = study.baseline_condition
        and turn_similarity.variant = 'raw'
        and turn_similarity.mean_arg_max_prev is not null

)

select * from final
