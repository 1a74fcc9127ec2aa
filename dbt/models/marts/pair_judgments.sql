with

judgments as (

    select * from {{ ref('int_pair_judgments') }}

),

final as (

    select
        argument_id,
        nearest_argument_id,
        judge,
        round,

        session_id,
        motion_id,
        language,
        condition,

        label,
        label >= 2 as repeated,
        label = 3 as strict,
        rationale,

        failure_reason,
        raw_response,
        labels,
        created_at,

        part,
        file,
        line,
        extra,

    from judgments
    where instrument = 'pair_judge'

)

select * from final
