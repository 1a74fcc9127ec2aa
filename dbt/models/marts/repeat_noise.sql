with

final as (

    select * from {{ ref('stg_estimates__repeat_noise') }}

)

select * from final
