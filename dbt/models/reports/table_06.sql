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

encoders as (

    select * from published_labels where kind = 'encoder'

),

agents as (

    select * from published_labels where kind = 'agent'

),

cells as (

    select * from prior_argument_similarity where "table" = '6'

),

published as (

    select
        cells."column" as encoder,
        'zh' as language,
        'en' as reference_language,
        agents.code as agent,
        reference_agents.code as reference_agent,
        cells.value,
        cells.estimate,
        cells.ci_low,
        cells.ci_high,
        cells.ci_excludes_zero,

    from cells
    left join agents on agents.label = split_part(cells."row", ' - ', 1)
    left join agents as reference_agents on reference_agents.label = split_part(cells."row", ' - ', 2)

),

-- The paper's tables rest on claims, the plain measure, the mean over agents and one extractor.
as_estimated as (

    select
        gap_estimates.encoder,
        gap_estimates.language,
        gap_estimates.reference_language,
        gap_estimates.agent,
        gap_estimates.reference_agent,
        gap_estimates.estimate,
        gap_estimates.ci_low,
        gap_estimates.ci_high,
        gap_estimates.ci_excludes_zero,
        gap_estimates.n_motions,
        gap_estimates.interval_status,

    from gap_estimates
    join study on study.primary_extractor = gap_estimates.extractor
    where gap_estimates.contrast = 'agent_contrast'
        and gap_estimates.condition = study.baseline_condition
        and gap_estimates.language = 'zh'
        and gap_estimates.aggregate = 'agent_mean'
        and gap_estimates.field = 'claim'
        and gap_estimates.variant = 'raw'

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
        as_estimated.encoder,
        as_estimated.language,
        as_estimated.reference_language,
        coalesce(swapped.agent, as_estimated.agent) as agent,
        coalesce(swapped.reference_agent, as_estimated.reference_agent) as reference_agent,
        -- Not if(): DuckDB 1.x cannot read a view that DuckDB 2 has stored with it.
        case when swapped.agent is null then as_estimated.estimate else -as_estimated.estimate end as estimate,
        case when swapped.agent is null then as_estimated.ci_low else -as_estimated.ci_high end as ci_low,
        case when swapped.agent is null then as_estimated.ci_high else -as_estimated.ci_low end as ci_high,
        as_estimated.ci_excludes_zero,
        as_estimated.n_motions,
        as_estimated.interval_status,

    from as_estimated
    left join printed_pairs as swapped
        on swapped.agent = as_estimated.reference_agent
        and swapped.reference_agent = as_estimated.agent

),

paired as (

    select
        coalesce(ours.encoder, published.encoder) as encoder,
        coalesce(ours.language, published.language) as language,
        coalesce(ours.reference_language, published.reference_language) as reference_language,
        coalesce(ours.agent, published.agent) as agent,
        coalesce(ours.reference_agent, published.reference_agent) as reference_agent,

        ours.estimate,
        ours.ci_low,
        ours.ci_high,
        ours.ci_excludes_zero,
        ours.n_motions,
        ours.interval_status,

        published.value as published_value,
        published.estimate as published_estimate,
        published.ci_low as published_ci_low,
        published.ci_high as published_ci_high,
        published.ci_excludes_zero as published_excludes_zero,

    from ours
    full join published
        on published.encoder = ours.encoder
        and published.language = ours.language
        and published.reference_language = ours.reference_language
        and published.agent = ours.agent
        and published.reference_agent = ours.reference_agent

),

final as (

    select paired.*
    from paired
    left join encoders on encoders.code = paired.encoder
    left join agents on agents.code = paired.agent
    left join agents as reference_agents on reference_agents.code = paired.reference_agent
    order by
        encoders.position nulls last,
        paired.encoder,
        reference_agents.position nulls last,
        agents.position nulls last,
        paired.reference_agent,
        paired.agent

)

select * from final
