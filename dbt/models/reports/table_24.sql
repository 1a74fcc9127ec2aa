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

cells as (

    select
        split_part("row", ' | ', 1) as encoder,
        -- Not if(): DuckDB 1.x cannot read a view that DuckDB 2 has stored with it.
        case split_part("row", ' | ', 2)
            when 'C boot.' then 'C_bootstrap'
            else split_part("row", ' | ', 2)
        end as specification,
        'zh' as language,
        * exclude ("row"),

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

paired as (

    {{ beside_published(
        ['encoder', 'language', 'specification'],
        [
            'estimate', 'std_error', 'ci_low', 'ci_high', 'ci_excludes_zero', 'n_turns', 'n_motions', 'dropped_columns',
            'interval_status', 'interval_note',
        ],
        'Needs this encoder in the study, and debates in this language and the reference language.',
    ) }}

),

final as (

    select
        paired.*,
        errors.value as published_std_error,
        sizes.value as published_n_turns,

    from paired
    left join cells as errors
        on errors.encoder = paired.encoder
        and errors.language = paired.language
        and errors.specification = paired.specification
        and errors."column" = 'SE'
    left join cells as sizes
        on sizes.encoder = paired.encoder
        and sizes.language = paired.language
        and sizes.specification = paired.specification
        and sizes."column" = 'N'

)

select * from final
order by encoder, language, specification
