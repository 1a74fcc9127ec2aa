with

study as (

    select * from {{ ref('study') }}

),

languages as (

    select * from {{ ref('languages') }}

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

published as (

    select
        languages.language,
        cells."column" as encoder,
        cells.*,

    from prior_argument_similarity as cells
    join languages on languages.name = cells."row"
    where cells."table" = '21'

),

ours as (

    select gap_estimates.*
    from gap_estimates
    cross join study
    where gap_estimates.contrast = 'language_gap'
        and gap_estimates.variant = 'z_scored'
        and gap_estimates.field = 'claim'
        and gap_estimates.condition = study.baseline_condition
        and gap_estimates.extractor = study.primary_extractor
        and gap_estimates.aggregate = 'agent_mean'

),

paired as (

    {{ beside_published(
        ['language', 'encoder'],
        estimate_columns(),
        'Needs this encoder in the study, and debates about several motions in this language and the reference language.',
    ) }}

),

final as (

    {{ in_published_order(['encoder', 'language']) }}

)

select * from final
