with

final as (

    select * from {{ ref('stg_ledger__calls') }}

)

select * from final
