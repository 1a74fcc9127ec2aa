with

study as (

    select * from {{ ref('stg_study__study') }}

),

agent_similarity as (

    select * from {{ ref('agent_similarity') }}

),

session_similarity as (

    select * from {{ ref('session_similarity') }}

),

-- One column of values whatever the aggregate; `agent` is set where the value belongs to one agent.
session_values as (

    select
        * exclude (agent_mean, turn_mean, n_scoreable_turns, n_scoreable_agents),
        'agent_mean' as aggregate,
        null::varchar as agent,
        agent_mean as similarity,

    from session_similarity

    union all by name

    select
        * exclude (agent_mean, turn_mean, n_scoreable_turns, n_scoreable_agents),
        'turn_mean' as aggregate,
        null::varchar as agent,
        turn_mean as similarity,

    from session_similarity

    union all by name

    select
        * exclude (agent_similarity, n_scoreable_turns),
        'agent_mean' as aggregate,
        agent_similarity as similarity,

    from agent_similarity

),

-- Repeats are averaged first [A.7]: a motion weighs the same however often it was debated.
cells as (

    select
        motion_id,
        language,
        condition,
        agent,
        extractor,
        encoder,
        field,
        variant,
        aggregate,
        avg(similarity order by session_id) as similarity,

    from session_values
    where similarity is not null
    group by all

),

-- The inner join pairs by motion: a motion that one of the two languages lacks has no gap.
gaps as (

    select
        cells.* exclude (similarity),
        reference.language as reference_language,
        cells.similarity - reference.similarity as difference,

    from cells
    cross join study
    join cells as reference
        on reference.motion_id = cells.motion_id
        and reference.language = study.reference_language
        and reference.condition = cells.condition
        and reference.agent is not distinct from cells.agent
        and reference.extractor = cells.extractor
        and reference.encoder = cells.encoder
        and reference.field = cells.field
        and reference.variant = cells.variant
        and reference.aggregate = cells.aggregate
    where cells.language <> study.reference_language

),

language_gaps as (

    select
        if(agent is null, 'language_gap', 'agent_gap') as contrast,
        *,

    from gaps

),

-- Agents that the study does not list come after those it does, in alphabetical order.
agent_order as (

    select
        agents.agent,
        row_number() over (order by list_position(study.agents, agents.agent) nulls last, agents.agent) as position,

    from (select distinct agent from agent_similarity) as agents
    cross join study

),

agent_contrasts as (

    select
        'agent_contrast' as contrast,
        gaps.* exclude (difference),
        reference.agent as reference_agent,
        gaps.difference - reference.difference as difference,

    from gaps
    join gaps as reference
        on reference.motion_id = gaps.motion_id
        and reference.language = gaps.language
        and reference.condition = gaps.condition
        and reference.extractor = gaps.extractor
        and reference.encoder = gaps.encoder
        and reference.field = gaps.field
        and reference.variant = gaps.variant
        and reference.aggregate = gaps.aggregate
    join agent_order on agent_order.agent = gaps.agent
    join agent_order as reference_order on reference_order.agent = reference.agent
    where agent_order.position > reference_order.position

),

condition_effects as (

    select
        'condition_effect' as contrast,
        cells.* exclude (similarity),
        baseline.condition as reference_condition,
        cells.similarity - baseline.similarity as difference,

    from cells
    cross join study
    join cells as baseline
        on baseline.motion_id = cells.motion_id
        and baseline.language = cells.language
        and baseline.condition = study.baseline_condition
        and baseline.extractor = cells.extractor
        and baseline.encoder = cells.encoder
        and baseline.field = cells.field
        and baseline.variant = cells.variant
        and baseline.aggregate = cells.aggregate
        and baseline.agent is null
    where cells.agent is null
        and cells.condition <> study.baseline_condition

),

gap_changes as (

    select
        gaps.* exclude (difference),
        baseline.condition as reference_condition,
        gaps.difference as condition_gap,
        baseline.difference as baseline_gap,

    from gaps
    cross join study
    join gaps as baseline
        on baseline.motion_id = gaps.motion_id
        and baseline.language = gaps.language
        and baseline.condition = study.baseline_condition
        and baseline.extractor = gaps.extractor
        and baseline.encoder = gaps.encoder
        and baseline.field = gaps.field
        and baseline.variant = gaps.variant
        and baseline.aggregate = gaps.aggregate
        and baseline.agent is null
    where gaps.agent is null
        and gaps.condition <> study.baseline_condition

),

-- Two signs for two readings: a reduction is positive when the gap narrows (Table 9), a change when it widens
-- (Table 11).
gap_reductions as (

    select
        'gap_reduction' as contrast,
        * exclude (condition_gap, baseline_gap),
        baseline_gap - condition_gap as difference,

    from gap_changes

),

condition_changes as (

    select
        'condition_change' as contrast,
        * exclude (condition_gap, baseline_gap),
        condition_gap - baseline_gap as difference,

    from gap_changes

),

-- `union by name` leaves NULL what a contrast does not have.
contrasts as (

    select * from language_gaps
    union all by name
    select * from agent_contrasts
    union all by name
    select * from condition_effects
    union all by name
    select * from gap_reductions
    union all by name
    select * from condition_changes

),

final as (

    select
        contrast,
        language,
        reference_language,
        condition,
        reference_condition,
        agent,
        reference_agent,
        extractor,
        encoder,
        field,
        variant,
        aggregate,

        motion_id,

        difference,

    from contrasts

)

select * from final
