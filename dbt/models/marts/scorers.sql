with

final as (

    select * from {{ ref('stg_pair_scores__scorers') }}

)

select * from final
