with

study as (

    select * from {{ ref('study') }}

),

extraction_audit_rates as (

    select * from {{ ref('extraction_audit_rates') }}

),

prior_argument_similarity as (

    select * from {{ ref('prior_argument_similarity') }}

),

cells as (

    select * from prior_argument_similarity where "table" = '26'

),

published as (

    select
        case cells."row"
            when 'Overall quality (1–5)' then 'quality'
            when 'All major arguments captured' then 'all_major_captured'
            when 'Over-split rate' then 'over_split'
            when 'Under-split rate' then 'under_split'
            when 'Hallucination' then 'hallucination'
            when 'Missing major argument' then 'missing_major'
        end as dimension,
        case when cells."column" = 'English' then 'en' else 'zh' end as language,
        case when cells."column" like 'Difference%' then 'en' end as reference_language,
        cells.*,

    from cells

),

ours as (

    select extraction_audit_rates.*
    from extraction_audit_rates
    join study on study.baseline_condition = extraction_audit_rates.condition

),

paired as (

    {{ beside_published(
        ['dimension', 'language', 'reference_language'],
        estimate_columns('n_turns'),
        'Needs annotations of the task extraction (annotations.csv).',
    ) }}

),

final as (

    select *
    from paired
    order by
        list_position(
            [
                'quality', 'all_major_captured', 'over_split', 'under_split', 'hallucination', 'missing_major',
            ],
            dimension
        ),
        reference_language nulls first,
        language

)

select * from final
