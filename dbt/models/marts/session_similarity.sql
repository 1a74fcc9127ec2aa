with

sessions as (

    select * from {{ ref('int_sessions') }}

),

turn_similarity as (

    select * from {{ ref('turn_similarity') }}

),

agent_similarity as (

    select * from {{ ref('agent_similarity') }}

),

analysed as (

    select turn_similarity.*
    from turn_similarity
    join sessions on sessions.session_id = turn_similarity.session_id
    where sessions.in_analysis

),

over_turns as (

    select
        session_id,
        motion_id,
        language,
        condition,
        repeat,
        extractor,
        encoder,
        field,
        variant,
        avg(mean_arg_max_prev order by turn_index) as turn_mean,
        count(mean_arg_max_prev) as n_scoreable_turns,

    from analysed
    group by all

),

-- Each agent weighs the same here, however many of its turns are scoreable; `turn_mean` weighs each turn the same.
-- They differ because turn 1 is never scoreable. The mean leaves out agents without a scoreable turn (NULL).
over_agents as (

    select
        session_id,
        extractor,
        encoder,
        field,
        variant,
        avg(agent_similarity order by agent) as agent_mean,
        count(agent_similarity) as n_scoreable_agents,

    from agent_similarity
    group by all

),

final as (

    select
        over_turns.session_id,

        over_turns.motion_id,
        over_turns.language,
        over_turns.condition,
        over_turns.repeat,

        over_turns.extractor,
        over_turns.encoder,
        over_turns.field,
        over_turns.variant,

        over_agents.agent_mean,
        over_turns.turn_mean,
        over_turns.n_scoreable_turns,
        coalesce(over_agents.n_scoreable_agents, 0) as n_scoreable_agents,

    from over_turns
    left join over_agents
        on over_agents.session_id = over_turns.session_id
        and over_agents.extractor = over_turns.extractor
        and over_agents.encoder = over_turns.encoder
        and over_agents.field = over_turns.field
        and over_agents.variant = over_turns.variant

)

select * from final
