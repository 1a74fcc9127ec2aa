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

languages as (

    select * from published_labels where kind = 'language'

),

cells as (

    select * from prior_argument_similarity where "table" = '3'

),

published as (

    select
        cells."row" as encoder,
        languages.code as language,
        'en' as reference_language,
        cells.value,
        cells.estimate,
        cells.ci_low,
        cells.ci_high,
        cells.ci_excludes_zero,

    from cells
    left join languages on languages.label = cells."column"

),

-- The paper's tables rest on claims, the plain measure, the mean over agents and one extractor.
ours as (

    select
        gap_estimates.encoder,
        gap_estimates.language,
        gap_estimates.reference_language,
        gap_estimates.estimate,
        gap_estimates.ci_low,
        gap_estimates.ci_high,
        gap_estimates.ci_excludes_zero,
        gap_estimates.n_motions,
        gap_estimates.interval_status,

    from gap_estimates
    join study on study.primary_extractor = gap_estimates.extractor
    where gap_estimates.contrast = 'language_gap'
        and gap_estimates.condition = study.baseline_condition
        and gap_estimates.aggregate = 'agent_mean'
        and gap_estimates.field = 'claim'
        and gap_estimates.variant = 'raw'

),

paired as (

    select
        coalesce(ours.encoder, published.encoder) as encoder,
        coalesce(ours.language, published.language) as language,
        coalesce(ours.reference_language, published.reference_language) as reference_language,

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

),

final as (

    select paired.*
    from paired
    left join encoders on encoders.code = paired.encoder
    left join languages on languages.code = paired.language
    order by
        encoders.position nulls last,
        paired.encoder,
        languages.position nulls last,
        paired.language

)

select * from final
