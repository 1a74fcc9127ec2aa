with

final as (

    select * from {{ ref('stg_estimates__instrument_alignment') }}

)

select * from final
