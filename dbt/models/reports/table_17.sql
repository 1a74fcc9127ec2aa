with

study as (

    select * from {{ ref('study') }}

),

gap_estimates as (

    select * from {{ ref('gap_estimates') }}

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
        case split_part("row", ' | ', 2)
            when 'Bootstrap' then 'bootstrap'
            when 'OLS-FE' then 'ols_fixed_effects'
            else 'mixed'
        end as estimator,
        'zh' as language,
        *,

    from prior_argument_similarity
    where "table" = '17'

),

published as (

    select * from cells where "column" <> 'SE'

),

ours as (

    select
        'bootstrap' as estimator,
        gap_estimates.encoder,
        gap_estimates.language,
        gap_estimates.estimate,
        null::double as std_error,
        gap_estimates.ci_low,
        gap_estimates.ci_high,
        gap_estimates.ci_excludes_zero,
        null::bigint as n_turns,
        gap_estimates.n_motions,
        null::boolean as singular,
        gap_estimates.interval_status,
        gap_estimates.interval_note,

    from gap_estimates
    cross join study
    where gap_estimates.contrast = 'language_gap'
        and gap_estimates.variant = 'raw'
        and gap_estimates.field = 'claim'
        and gap_estimates.condition = study.baseline_condition
        and gap_estimates.extractor = study.primary_extractor
        and gap_estimates.aggregate = 'turn_mean'

    union all

    select
        case regression_estimates.specification when 'B' then 'ols_fixed_effects' else 'mixed' end as estimator,
        regression_estimates.encoder,
        regression_estimates.language,
        regression_estimates.estimate,
        regression_estimates.std_error,
        regression_estimates.ci_low,
        regression_estimates.ci_high,
        regression_estimates.ci_excludes_zero,
        regression_estimates.n_turns,
        regression_estimates.n_motions,
        regression_estimates.singular,
        regression_estimates.interval_status,
        regression_estimates.interval_note,

    from regression_estimates
    cross join study
    where regression_estimates.specification in ('B', 'mixed')
        and regression_estimates.term = 'language'
        and regression_estimates.field = 'claim'
        and regression_estimates.extractor = study.primary_extractor

),

beside as (

    {{ beside_published(
        ['encoder', 'language', 'estimator'],
        [
            'estimate', 'std_error', 'ci_low', 'ci_high', 'ci_excludes_zero', 'n_turns', 'n_motions', 'singular',
            'interval_status', 'interval_note',
        ],
        'Needs this encoder in the study, and debates in this language and the reference language.',
    ) }}

),

paired as (

    select
        beside.*,
        errors.value as published_std_error,

    from beside
    left join cells as errors
        on errors.encoder = beside.encoder
        and errors.language = beside.language
        and errors.estimator = beside.estimator
        and errors."column" = 'SE'

),

final as (

    {{ in_published_order([
        'encoder',
        'language',
        "list_position(['bootstrap', 'ols_fixed_effects', 'mixed'], estimator)",
    ]) }}

)

select * from final
