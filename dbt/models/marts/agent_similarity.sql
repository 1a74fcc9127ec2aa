with

sessions as (

    select * from {{ ref('int_sessions') }}

),

turn_similarity as (

    select * from {{ ref('turn_similarity') }}

),

analysed as (

    select turn_similarity.*
    from turn_similarity
    join sessions on sessions.session_id = turn_similarity.session_id
    where sessions.in_analysis

),

-- An agent without a scoreable turn keeps its row, with NULL and a count of 0.
final as (

    select
        session_id,

        motion_id,
        language,
        condition,
        repeat,

        agent,

        extractor,
        encoder,
        field,
        variant,

        avg(mean_arg_max_prev order by turn_index) as agent_similarity,
        count(mean_arg_max_prev) as n_scoreable_turns,

    from analysed
    where agent is not null
    group by all

)

select * from final
