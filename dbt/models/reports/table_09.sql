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
        case cells."column"
            when 'Baseline zh - en' then 'baseline_gap'
            when 'Diversity zh - en' then 'condition_gap'
            when 'Gap reduction' then 'gap_reduction'
        end as quantity,
        case when cells."column" = 'Baseline zh - en' then 'baseline' else 'diversity' end as condition,
        'zh' as language,
        'en' as reference_language,
        cells.*,

    from prior_argument_similarity as cells
    where cells."table" = '9'

),

estimates as (

    {{ headline_estimates(['language_gap', 'gap_reduction']) }}
        and gap_estimates.language = 'zh'

),

ours as (

    select
        *,
        case
            when contrast = 'gap_reduction' then 'gap_reduction'
            when condition = baseline_condition then 'baseline_gap'
            else 'condition_gap'
        end as quantity,

    from estimates
    cross join (select baseline_condition from study) as baseline

),

paired as (

    {{ beside_published(
        ['encoder', 'quantity', 'condition', 'language', 'reference_language'],
        estimate_columns(),
        'Needs this encoder in the study, and debates in Chinese and the reference language under this condition.',
    ) }}

),

final as (

    {{ in_published_order([
        'encoder',
        "list_position(['baseline_gap', 'condition_gap', 'gap_reduction'], quantity)",
        'condition',
    ]) }}

)

select * from final
