with

final as (

    select * from {{ ref('stg_max_prior_pairs__encoders') }}

)

select * from final
