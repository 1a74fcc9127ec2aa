with

final as (

    select * from {{ ref('stg_ledger__runs') }}

)

select * from final
