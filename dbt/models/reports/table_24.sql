with

study as (

    select * from {{ ref('study') }}

),

regression_estimates as (

    select * from {{ ref('regression_estimates') }}

),

prior_argument_similarity as (

    select * from {{ ref('prior_argument_similarity') }}

),

published_labels as (

    select * from {{ ref('published_labels') }}

),

cells as (

    select
        split_part("row", ' | ', 1) as encoder,
        replace(split_part("row", ' | ', 2), 'C boot.', 'C_bootstrap') as specification,
        'zh' as language,
        *,

    from prior_argument_similarity
    where "table" = '24'

),

published as (

    select * from cells where "column" = 'Coef.'

),

ours as (

    select regression_estimates.*
    from regression_estimates
    cross join study
    where regression_estimates.specification <> 'mixed'
        and regression_estimates.term = 'language'
        and regression_estimates.field = 'claim'
        and regression_estimates.extractor = study.primary_extractor

),

beside as (

    {{ beside_published(
        ['encoder', 'language', 'specification'],
        [
            'estimate', 'std_error', 'ci_low', 'ci_high', 'ci_excludes_zero', 'n_turns', 'n_motions', 'dropped_columns',
            'interval_status', 'interval_note',
        ],
        'Needs this encoder in the study, and debates in this language and the reference language.',
    ) }}

),

paired as (

    select
        beside.*,
        errors.value as published_std_error,
        sizes.value as published_n_turns,

    from beside
    left join cells as errors
        on errors.encoder = beside.encoder
        and errors.language = beside.language
        and errors.specification = beside.specification
        and errors."column" = 'SE'
    left join cells as sizes
        on sizes.encoder = beside.encoder
        and sizes.language = beside.language
        and sizes.specification = beside.specification
        and sizes."column" = 'N'

),

final as (

    {{ in_published_order(['encoder', 'language', 'specification']) }}

)

select * from final
