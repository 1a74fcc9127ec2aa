with

source as (

    select * from {{ source('judgments', 'judgment_parses') }}

),

final as (

    select
        instrument,
        judge,
        -- A judgment without a round is of the first.
        coalesce(round, 1) as round,

        session_id,
        argument_id,
        nearest_argument_id,
        n_turns,

        parsed,
        reason,
        labels,

        label,
        function,
        argumentative_development,
        engagement,
        final_argument_quality,
        overall_quality,
        rationale,

        raw_response,
        try_cast(created_at as timestamptz) as created_at,

        part,
        file,
        line,
        extra,

    from source

)

select * from final
