with

final as (

    select * from {{ ref('stg_estimates__agreement') }}

)

select * from final
