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

published as (

    select
        cells."row" as encoder,
        split_part(cells."column", ' - ', 1) as language,
        split_part(cells."column", ' - ', 2) as reference_language,
        cells.*,

    from prior_argument_similarity as cells
    where cells."table" = '4'

),

ours as (

    {{ headline_estimates(['language_gap']) }}
        and gap_estimates.condition = study.baseline_condition
        and gap_estimates.language = 'zh'

),

paired as (

    {{ beside_published(
        ['encoder', 'language', 'reference_language'],
        estimate_columns(),
        'Needs this encoder in the study, and debates in Chinese and the reference language.',
    ) }}

),

final as (

    {{ in_published_order(['encoder']) }}

)

select * from final
