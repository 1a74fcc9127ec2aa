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

    select * from prior_argument_similarity where "table" = '29'

),

published as (

    select
        case cells."row"
            when 'Top quintile rate' then 'top_quintile_rate'
            when 'Top decile rate' then 'top_decile_rate'
            when 'Calibrated repeated binary' then 'calibrated_repeated'
            when 'Calibrated strict repeated' then 'calibrated_strict'
        end as measure,
        'bge-m3' as encoder,
        case when cells."column" = 'English' then 'en' else 'zh' end as language,
        case when cells."column" like 'ZH–EN%' then 'en' end as reference_language,
        cells.*,

    from cells

),

ours as (

    select
        'calibrated_' || calibration.collapse as measure,
        calibration.*,

    from calibration
    where calibration.quantity = 'calibrated_rate' and calibration.field = 'claim'

),

paired as (

    {{ beside_published(
        ['measure', 'encoder', 'language', 'reference_language'],
        estimate_columns('n_pairs'),
        'Needs this encoder in the study, and for calibrated rates annotations of the task repetition.',
    ) }}

),

final as (

    select *
    from paired
    order by
        encoder,
        list_position(
            ['top_quintile_rate', 'top_decile_rate', 'calibrated_repeated', 'calibrated_strict'], measure
        ),
        reference_language nulls first,
        language

)

select * from final
