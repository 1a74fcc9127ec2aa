with

final as (

    select * from {{ ref('stg_estimates__tail_rates') }}

)

select * from final
