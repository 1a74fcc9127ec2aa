with

final as (

    select * from {{ ref('stg_study__turn_template') }}

)

select * from final
