with

study as (

    select * from {{ ref('study') }}

),

gap_estimates as (

    select * from {{ ref('gap_estimates') }}

),

prior_argument_similarity as (

    select * from {{ ref('prior_argument_similarity') }}

),

published_labels as (

    select * from {{ ref('published_labels') }}

),

agents as (

    select * from published_labels where kind = 'agent'

),

published as (

    select
        cells."column" as encoder,
        'zh' as language,
        'en' as reference_language,
        agents.code as agent,
        reference_agents.code as reference_agent,
        cells.*,

    from prior_argument_similarity as cells
    left join agents on agents.label = split_part(cells."row", ' - ', 1)
    left join agents as reference_agents on reference_agents.label = split_part(cells."row", ' - ', 2)
    where cells."table" = '6'

),

as_estimated as (

    {{ headline_estimates(['agent_contrast']) }}
        and gap_estimates.condition = study.baseline_condition
        and gap_estimates.language = 'zh'

),

-- A study with another order of agents has a pair the other way round: the same contrast with its sign changed.
printed_pairs as (

    select distinct
        agent,
        reference_agent,

    from published

),

ours as (

    select
        as_estimated.* exclude (agent, reference_agent, estimate, ci_low, ci_high),
        coalesce(swapped.agent, as_estimated.agent) as agent,
        coalesce(swapped.reference_agent, as_estimated.reference_agent) as reference_agent,
        case when swapped.agent is null then as_estimated.estimate else -as_estimated.estimate end as estimate,
        case when swapped.agent is null then as_estimated.ci_low else -as_estimated.ci_high end as ci_low,
        case when swapped.agent is null then as_estimated.ci_high else -as_estimated.ci_low end as ci_high,

    from as_estimated
    left join printed_pairs as swapped
        on swapped.agent = as_estimated.reference_agent
        and swapped.reference_agent = as_estimated.agent

),

paired as (

    {{ beside_published(
        ['encoder', 'language', 'reference_language', 'agent', 'reference_agent'],
        estimate_columns(),
        'Needs this encoder in the study, and debates of both agents in Chinese and the reference language.',
    ) }}

),

final as (

    {{ in_published_order(['encoder', 'reference_agent', 'agent']) }}

)

select * from final
