with

source as (

    select * from {{ source('study', 'languages') }}

),

final as (

    select
        language,

        name,
        native_name,
        script,
        direction,
        length_unit,
        sentence_terminators,

    from source

)

select * from final
