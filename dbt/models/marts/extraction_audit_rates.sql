with

final as (

    select * from {{ ref('stg_estimates__extraction_audit_rates') }}

)

select * from final
