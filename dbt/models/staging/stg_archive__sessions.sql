with

source as (

    select * from {{ source('archive', 'sessions') }}

),

final as (

    select
        session_id,

        motion_id,
        language,
        condition,
        repeat,

        status,
        motion_text,
        agents,
        role_mapping,
        source,
        try_cast(started_at as timestamptz) as started_at,
        try_cast(finished_at as timestamptz) as finished_at,

        part,
        file,
        line,
        extra,

    from source

)

select * from final
