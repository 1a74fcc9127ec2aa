with

final as (

    select * from {{ ref('stg_estimates__translation_estimates') }}

)

select * from final
