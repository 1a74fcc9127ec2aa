-- Two agents with a gap on the same motion have exactly one contrast, the difference of the two gaps.
-- Why: a pair in both directions would count twice; the other direction is the same number with its sign changed.
-- Returns: pairs of agents with no, more than one, or a wrong contrast.

with

motion_contrasts as (

    select * from {{ ref('motion_contrasts') }}

),

agent_gaps as (

    select * from motion_contrasts where contrast = 'agent_gap'

),

agent_contrasts as (

    select * from motion_contrasts where contrast = 'agent_contrast'

),

pairs as (

    select
        one.* exclude (contrast, reference_condition, reference_agent, difference),
        other.agent as other_agent,
        one.difference - other.difference as difference,

    from agent_gaps as one
    join agent_gaps as other
        using (motion_id, language, condition, extractor, encoder, field, variant, aggregate)
    where one.agent < other.agent

)

select
    pairs.*,
    count(agent_contrasts.agent) as n_contrasts,

from pairs
left join agent_contrasts
    on agent_contrasts.motion_id = pairs.motion_id
    and agent_contrasts.language = pairs.language
    and agent_contrasts.condition = pairs.condition
    and agent_contrasts.extractor = pairs.extractor
    and agent_contrasts.encoder = pairs.encoder
    and agent_contrasts.field = pairs.field
    and agent_contrasts.variant = pairs.variant
    and agent_contrasts.aggregate = pairs.aggregate
    and least(agent_contrasts.agent, agent_contrasts.reference_agent) = pairs.agent
    and greatest(agent_contrasts.agent, agent_contrasts.reference_agent) = pairs.other_agent
    and abs(
        if(agent_contrasts.agent = pairs.agent, 1, -1) * agent_contrasts.difference - pairs.difference
    ) < 1e-12
group by all
having n_contrasts <> 1
