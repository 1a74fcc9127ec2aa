with

study as (

    select * from {{ ref('stg_study__study') }}

),

turn_template as (

    select * from {{ ref('stg_study__turn_template') }}

),

motions as (

    select * from {{ ref('stg_archive__motions') }}

),

sessions as (

    select * from {{ ref('stg_archive__sessions') }}

),

turns as (

    select * from {{ ref('stg_archive__turns') }}

),

turn_counts as (

    select
        session_id,
        count(*) as n_turns,

    from turns
    group by all

),

complete as (

    select count(*) as n_turns from turn_template

),

-- The archive in the lake is already the study's selection; what is left to decide here is completeness.
final as (

    select
        sessions.session_id,

        sessions.motion_id,
        sessions.language,
        sessions.condition,
        sessions.repeat,

        sessions.status,
        coalesce(turn_counts.n_turns, 0) as n_turns,
        coalesce(sessions.motion_text, motions.motion_text) as motion_text,
        sessions.agents,
        sessions.role_mapping,
        sessions.source,
        sessions.started_at,
        sessions.finished_at,

        -- A session whose model changed half-way has all its turns, and says itself that it is partial.
        study.incomplete_sessions = 'include'
            or (
                coalesce(sessions.status, 'complete') = 'complete'
                and coalesce(turn_counts.n_turns, 0) >= if(study.protocol = 'free', 1, complete.n_turns)
            ) as in_analysis,

        sessions.extra,

    from sessions
    cross join study
    cross join complete
    left join turn_counts on turn_counts.session_id = sessions.session_id
    left join motions
        on motions.motion_id = sessions.motion_id
        and motions.language = sessions.language

)

select * from final
