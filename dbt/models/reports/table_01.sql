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
        case
            when cells."row" like 'Null%' then 'null_adjusted'
            when cells."row" like 'z%' then 'z_scored'
            when cells."row" = 'Fixed K=5' then 'fixed_k5'
            when cells."row" = 'Fixed K=10' then 'fixed_k10'
            else 'raw'
        end as variant,
        case cells."row"
            when 'Claim+W' then 'claim_warrant'
            when 'Claim+W+evidence' then 'claim_warrant_evidence'
            else 'claim'
        end as field,
        cells."column" as encoder,
        'zh' as language,
        cells.*,

    from prior_argument_similarity as cells
    where cells."table" = '1'

),

-- The variants of the claims, and the plain measure of the longer fields: the rows of the paper's table.
ours as (

    select gap_estimates.*
    from gap_estimates
    cross join study
    where gap_estimates.contrast = 'language_gap'
        and gap_estimates.condition = study.baseline_condition
        and gap_estimates.extractor = study.primary_extractor
        and gap_estimates.aggregate = 'agent_mean'
        and (gap_estimates.field = 'claim' or gap_estimates.variant = 'raw')

),

paired as (

    {{ beside_published(
        ['variant', 'field', 'encoder', 'language'],
        estimate_columns(),
        'Needs this encoder and field in the study, and debates in this language and the reference language.',
    ) }}

),

final as (

    {{ in_published_order([
        "list_position(['raw', 'null_adjusted', 'z_scored', 'fixed_k5', 'fixed_k10'], variant)",
        "list_position(['claim', 'claim_warrant', 'claim_warrant_evidence'], field)",
        'encoder',
        'language',
    ]) }}

)

select * from final
