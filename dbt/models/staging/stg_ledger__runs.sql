with

source as (

    select * from {{ source('ledger', 'runs') }}

),

final as (

    select
        run_id,
        study,
        purpose,
        started_at,
        finished_at,
        ending,
        spending_cap_usd,
        litellm_version,

    from source

)

select * from final
