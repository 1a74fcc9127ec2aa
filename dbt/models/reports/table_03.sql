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

published as (

    select
        cells."row" as encoder,
        languages.code as language,
        'en' as reference_language,
        cells.*,

    from prior_argument_similarity as cells
    left join languages on languages.label = cells."column"
    where cells."table" = '3'

),

ours as (

    {{ headline_estimates(['language_gap']) }}
        and gap_estimates.condition = study.baseline_condition

),

paired as (

    {{ beside_published(
        ['encoder', 'language', 'reference_language'],
        estimate_columns(),
        'Needs this encoder in the study, and debates in this language and the reference language.',
    ) }}

),

final as (

    {{ in_published_order(['encoder', 'language']) }}

)

select * from final
