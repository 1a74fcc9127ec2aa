with

final as (

    select * from {{ ref('stg_estimates__group_gaps') }}

)

select * from final
