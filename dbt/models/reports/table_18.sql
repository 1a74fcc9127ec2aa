with

study as (

    select * from {{ ref('study') }}

),

translation_estimates as (

    select * from {{ ref('translation_estimates') }}

),

prior_argument_similarity as (

    select * from {{ ref('prior_argument_similarity') }}

),

published_labels as (

    select * from {{ ref('published_labels') }}

),

-- A row is printed as "<what is compared>, <encoder>".
published as (

    select
        case
            when cells."row" like 'Native Chinese%' then 'native_gap'
            when cells."row" like 'Round-trip%' then 'round_trip_effect'
            when cells."row" like '% - round-trip%' then 'translated_round_trip_gap'
            when cells."row" like 'MT%' then 'translated_gap'
        end as comparison,
        'zh' as language,
        published_labels.code as encoder,
        cells.*,

    from prior_argument_similarity as cells
    left join published_labels
        on published_labels.kind = 'encoder'
        and published_labels.label = trim(split_part(cells."row", ',', 2))
    where cells."table" = '18'

),

-- Turn 1 has nothing before it, and each later turn weighs the same.
ours as (

    select
        translation_estimates.contrast as comparison,
        translation_estimates.*,

    from translation_estimates
    join study on study.primary_extractor = translation_estimates.extractor
    where translation_estimates.aggregate = 'turn_mean'
        and translation_estimates.field = 'claim'
        and translation_estimates.variant = 'raw'
        -- Of each contrast, the one whose sessions come from the baseline.
        and study.baseline_condition = coalesce(
            nullif({{ translation_part('translation_estimates.condition', 'condition') }}, ''),
            translation_estimates.condition
        )

),

paired as (

    {{ beside_published(
        ['comparison', 'language', 'encoder'],
        estimate_columns(),
        'Needs translated and round-trip sessions of this language, extracted again, and this encoder in the study '
        ~ '(Translate and rescore in docs/running-a-study.md).',
    ) }}

),

final as (

    {{ in_published_order([
        'language',
        'encoder',
        "list_position(['native_gap', 'translated_gap', 'translated_round_trip_gap', 'round_trip_effect'], comparison)",
    ]) }}

)

select * from final
