with

source as (

    select * from {{ source('ledger', 'calls') }}

),

final as (

    select
        attempt_id,
        run_id,
        key,
        attempt,
        stage,
        provider,
        endpoint,
        agent,
        model_requested,
        model_reported,
        repeat,
        session_id,
        turn_index,
        subject,
        started_at,
        finished_at,
        latency_s,
        outcome,
        code,
        reason,
        status,
        finish_reason,
        input_tokens,
        output_tokens,
        cached_input_tokens,
        cache_write_tokens,
        reasoning_tokens,
        may_be_paid,
        cost_usd,
        worst_case_usd,
        request_sha256,
        response_sha256,
        response_headers,
        failed_response,

    from source

)

select * from final
