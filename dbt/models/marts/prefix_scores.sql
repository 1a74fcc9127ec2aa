with

judgments as (

    select *
    from {{ ref('stg_judgments__judgment_parses') }}
    where instrument = 'outcome' and n_turns is not null

),

sessions as (

    select * from {{ ref('int_sessions') }}

),

outcome_scores as (

    select * from {{ ref('outcome_scores') }}

),

scores as (

    {% for dimension in ['argumentative_development', 'engagement', 'final_argument_quality', 'overall_quality'] %}
    select
        judgments.*,
        '{{ dimension }}' as dimension,
        {{ dimension }} as score,

    from judgments
    {{ 'union all' if not loop.last }}
    {% endfor %}

),

final as (

    select
        scores.session_id,
        scores.judge,
        scores.round,
        scores.dimension,
        scores.n_turns,

        sessions.motion_id,
        sessions.language,
        sessions.condition,
        sessions.repeat,

        scores.score,
        whole.score as whole_score,
        whole.score - scores.score as gain,
        scores.rationale,

        scores.reason as failure_reason,
        scores.raw_response,
        scores.created_at,

        scores.part,
        scores.file,
        scores.line,

    from scores
    join sessions on sessions.session_id = scores.session_id
    left join outcome_scores as whole
        on whole.session_id = scores.session_id
        and whole.judge = scores.judge
        and whole.round = scores.round
        and whole.dimension = scores.dimension

)

select * from final
