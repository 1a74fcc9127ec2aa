with

final as (

    select * from {{ ref('stg_archive__annotations') }}

)

select * from final
