with

final as (

    select * from {{ ref('stg_estimates__output_volume') }}

)

select * from final
