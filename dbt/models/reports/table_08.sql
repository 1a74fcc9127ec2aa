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
        'diversity' as condition,
        'baseline' as reference_condition,
        cells.*,

    from prior_argument_similarity as cells
    left join languages on languages.label = cells."column"
    where cells."table" = '8'

),

ours as (

    {{ headline_estimates(['condition_effect']) }}

),

paired as (

    {{ beside_published(
        ['encoder', 'language', 'condition', 'reference_condition'],
        estimate_columns(),
        'Needs this encoder in the study, and debates in this language under this condition and the baseline.',
    ) }}

),

final as (

    {{ in_published_order(['encoder', 'language', 'condition']) }}

)

select * from final
