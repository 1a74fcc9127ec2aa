with

final as (

    select * from {{ ref('stg_estimates__gap_estimates') }}

)

select * from final
