with

final as (

    select * from {{ ref('stg_estimates__decoding_estimates') }}

)

select * from final
