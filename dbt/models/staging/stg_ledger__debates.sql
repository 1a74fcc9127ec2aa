with

source as (

    select * from {{ source('ledger', 'debates') }}

),

final as (

    select
        phase,
        session_id,
        motion_id,
        language,
        condition,
        repeat,
        status,
        n_turns,
        code,
        reason,

    from source

)

select * from final
