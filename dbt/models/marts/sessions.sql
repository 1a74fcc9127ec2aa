with

sessions as (

    select * from {{ ref('int_sessions') }}

),

extractors as (

    select * from {{ ref('int_extractors') }}

),

arguments as (

    select * from {{ ref('stg_argument_units__arguments') }}

),

argument_counts as (

    select
        arguments.session_id,
        count(*) as n_arguments,

    from arguments
    join extractors on extractors.extractor = arguments.extractor
    where extractors.is_primary
    group by all

),

final as (

    select
        sessions.session_id,

        sessions.motion_id,
        sessions.language,
        sessions.condition,
        sessions.repeat,

        sessions.status,
        sessions.n_turns,
        coalesce(argument_counts.n_arguments, 0) as n_arguments,
        sessions.motion_text,
        sessions.agents,
        sessions.role_mapping,
        sessions.source,
        sessions.started_at,
        sessions.finished_at,

        sessions.in_analysis,
        sessions.extra,

    from sessions
    left join argument_counts on argument_counts.session_id = sessions.session_id

)

select * from final
