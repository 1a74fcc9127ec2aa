with

annotations as (

    select * from {{ ref('stg_archive__annotations') }} where task = 'extraction'

),

sessions as (

    select * from {{ ref('int_sessions') }}

),

{% set dimensions = [
    'quality', 'all_major_captured', 'over_split', 'under_split', 'hallucination', 'missing_major',
] -%}

-- A later round replaces the first: it is made to settle it.
last_rounds as (

    select *
    from annotations
    qualify coalesce(round, 1) = max(coalesce(round, 1)) over (partition by session_id, turn_index)

),

verdicts as (

    {% for dimension in dimensions %}
    select
        session_id,
        turn_index,
        '{{ dimension }}' as dimension,
        avg({{ dimension }}::integer) as value,
        count({{ dimension }}) as n_annotators,
        any_value(stratum order by annotator) as stratum,
        any_value(weight order by annotator) as weight,

    from last_rounds
    group by session_id, turn_index
    having count({{ dimension }}) > 0
    {{ 'union all' if not loop.last }}
    {% endfor %}

),

final as (

    select
        verdicts.session_id,
        verdicts.turn_index,
        verdicts.dimension,

        sessions.motion_id,
        sessions.language,
        sessions.condition,
        sessions.in_analysis,

        verdicts.value,
        verdicts.n_annotators,
        verdicts.stratum,
        verdicts.weight,

    from verdicts
    join sessions on sessions.session_id = verdicts.session_id

)

select * from final
