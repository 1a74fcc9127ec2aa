with

source as (

    select * from {{ source('study', 'argument_types') }}

),

final as (

    select
        argument_type,

        description,

    from source

)

select * from final
