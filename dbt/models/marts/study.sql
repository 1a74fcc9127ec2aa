with

study as (

    select * from {{ ref('stg_study__study') }}

),

extractors as (

    select * from {{ ref('int_extractors') }}

),

final as (

    select
        study.*,
        extractors.extractor as primary_extractor,

    from study
    left join extractors on extractors.is_primary

)

select * from final
