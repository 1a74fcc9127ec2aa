with

study as (

    select * from {{ ref('study') }}

),

subset_gap_estimates as (

    select * from {{ ref('subset_gap_estimates') }}

),

prior_argument_similarity as (

    select * from {{ ref('prior_argument_similarity') }}

),

published_labels as (

    select * from {{ ref('published_labels') }}

),

published as (

    select
        case cells."row"
            when 'Baseline' then 'baseline'
            when 'Diversity-aware' then 'diversity'
            when 'P1 paraphrase' then 'p1_paraphrase'
            when 'P2 minimal' then 'p2_minimal'
            when 'P3 strong-novelty' then 'p3_strong_novelty'
            when 'P4 targeted-clash' then 'p4_targeted_clash'
        end as condition,
        cells."column" as encoder,
        'zh' as language,
        cells.*,

    from prior_argument_similarity as cells
    where cells."table" = '10'

),

-- The gaps of motions debated under every condition, so that conditions are compared on the same ones.
ours as (

    {{ headline_estimates(['language_gap'], 'subset_gap_estimates') }}
        and subset_gap_estimates.motion_set = 'ablation_' || subset_gap_estimates.language

),

paired as (

    {{ beside_published(
        ['language', 'condition', 'encoder'],
        estimate_columns(),
        'Needs this encoder in the study, and motions debated under every condition, this one among them, in this '
        ~ 'language and the reference language.',
    ) }}

),

final as (

    {{ in_published_order([
        'language',
        conditions_as_published(),
        'condition',
        'encoder',
    ]) }}

)

select * from final
