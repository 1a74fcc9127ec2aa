with

study as (

    select * from {{ ref('study') }}

),

calibration as (

    select * from {{ ref('calibration') }}

),

prior_argument_similarity as (

    select * from {{ ref('prior_argument_similarity') }}

),

cells as (

    select * from prior_argument_similarity where "table" = '28'

),

published as (

    select
        case when cells."row" like 'Repeated binary%' then 'repeated' else 'strict' end as collapse,
        case when cells."column" = 'English weighted' then 'en' else 'zh' end as language,
        case when cells."column" like 'ZH–EN%' then 'en' end as reference_language,
        cells.*,

    from cells

),

ours as (

    select calibration.*
    from calibration
    join study on study.baseline_condition = calibration.condition
    where calibration.quantity = 'weighted_rate'

),

paired as (

    {{ beside_published(
        ['collapse', 'language', 'reference_language'],
        estimate_columns('n_labelled'),
        'Needs annotations of the task repetition (annotations.csv).',
    ) }}

),

final as (

    select *
    from paired
    order by
        collapse,
        reference_language nulls first,
        language

)

select * from final
