with

judgments as (

    select * from {{ ref('stg_judgments__judgment_parses') }} where instrument = 'outcome' and n_turns is null

),

sessions as (

    select * from {{ ref('int_sessions') }}

),

{% set dimensions = ['argumentative_development', 'engagement', 'final_argument_quality', 'overall_quality'] -%}

-- An answer that cannot be read keeps a row per dimension, without a score and with its reason.
scores as (

    {% for dimension in dimensions %}
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

        sessions.motion_id,
        sessions.language,
        sessions.condition,
        sessions.repeat,

        scores.score,
        scores.rationale,

        scores.reason as failure_reason,
        scores.raw_response,
        scores.labels,
        scores.created_at,

        scores.part,
        scores.file,
        scores.line,
        scores.extra,

    from scores
    join sessions on sessions.session_id = scores.session_id

)

select * from final
