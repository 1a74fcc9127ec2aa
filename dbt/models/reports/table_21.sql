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

published as (

    select
        languages.language,
        cells."column" as encoder,
        cells.value,
        cells.estimate,
        cells.ci_low,
        cells.ci_high,
        cells.ci_excludes_zero,

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

final as (

    {{ beside_published(
        ['language', 'encoder'],
        ['estimate', 'ci_low', 'ci_high', 'ci_excludes_zero', 'n_motions', 'interval_status', 'interval_note'],
        'Needs this encoder in the study, and debates about several motions in this language and the reference language.',
    ) }}

)

select * from final
order by encoder, language
