with

judgments as (

    select * from {{ ref('stg_judgments__judgment_parses') }}

),

sessions as (

    select * from {{ ref('int_sessions') }}

),

-- Judgments of pairs, each with the debate that the later argument belongs to.
final as (

    select
        judgments.instrument,
        judgments.argument_id,
        judgments.nearest_argument_id,
        judgments.judge,
        judgments.round,

        sessions.session_id,
        sessions.motion_id,
        sessions.language,
        sessions.condition,
        sessions.in_analysis,

        judgments.label,
        judgments.function,
        judgments.rationale,

        judgments.reason as failure_reason,
        judgments.labels,
        judgments.raw_response,
        judgments.created_at,

        judgments.part,
        judgments.file,
        judgments.line,
        judgments.extra,

    from judgments
    join sessions on sessions.session_id = {{ session_of_argument('judgments.argument_id') }}
    where judgments.instrument in ('pair_judge', 'function')

)

select * from final
