with

source as (

    select * from {{ source('archive', 'rejects') }}

),

final as (

    select
        part,
        file,
        line,
        table_name,
        record_id,

        reason,
        detail,
        raw_line,

    from source

)

select * from final
