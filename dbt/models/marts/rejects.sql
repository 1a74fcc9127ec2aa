with

final as (

    select * from {{ ref('stg_archive__rejects') }}

)

select * from final
