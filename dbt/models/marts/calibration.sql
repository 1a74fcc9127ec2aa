with

final as (

    select * from {{ ref('stg_estimates__calibration') }}

)

select * from final
