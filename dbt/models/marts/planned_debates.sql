with

final as (

    select * from {{ ref('stg_ledger__debates') }}

)

select * from final
