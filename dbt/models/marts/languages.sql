with

final as (

    select * from {{ ref('stg_study__languages') }}

)

select * from final
