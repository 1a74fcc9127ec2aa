with

final as (

    select * from {{ ref('stg_estimates__regression_estimates') }}

)

select * from final
