with

source as (

    select * from {{ source('archive', 'turns') }}

),

final as (

    select
        session_id,
        turn_index,

        language,
        phase,
        role,
        side,
        agent,
        model_id,
        text,

        prompt_sha256,
        finish_reason,
        input_tokens,
        output_tokens,
        try_cast(created_at as timestamptz) as created_at,

        part,
        file,
        line,
        extra,

    from source

)

select * from final
