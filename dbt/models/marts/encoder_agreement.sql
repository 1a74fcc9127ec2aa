with

final as (

    select * from {{ ref('stg_estimates__encoder_agreement') }}

)

select * from final
