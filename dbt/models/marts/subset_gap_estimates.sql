with

final as (

    select * from {{ ref('stg_estimates__subset_gap_estimates') }}

)

select * from final
