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

languages as (

    select * from published_labels where kind = 'language'

),

agents as (

    select * from published_labels where kind = 'agent'

),

published as (

    select
        split_part(cells."row", ' | ', 1) as encoder,
        languages.code as language,
        'en' as reference_language,
        agents.code as agent,
        cells.*,

    from prior_argument_similarity as cells
    left join languages on languages.label = split_part(cells."row", ' | ', 2)
    left join agents on agents.label = cells."column"
    where cells."table" = '5'

),

ours as (

    {{ headline_estimates(['agent_gap']) }}
        and gap_estimates.condition = study.baseline_condition

),

paired as (

    {{ beside_published(
        ['encoder', 'language', 'reference_language', 'agent'],
        estimate_columns(),
        'Needs this encoder in the study, and debates of this agent in this language and the reference language.',
    ) }}

),

final as (

    {{ in_published_order(['encoder', 'language', 'agent']) }}

)

select * from final
