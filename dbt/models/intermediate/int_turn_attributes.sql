with

study as (

    select * from {{ ref('stg_study__study') }}

),

sessions as (

    select * from {{ ref('int_sessions') }}

),

turns as (

    select * from {{ ref('int_turns') }}

),

archive_turns as (

    select * from {{ ref('stg_archive__turns') }}

),

groupings as (

    select unnest(groupings) as attribute from study

),

first_turns as (

    select
        session_id,
        agent,
        min(turn_index) as turn_index,

    from turns
    where agent is not null
    group by all

),

speakers as (

    select
        session_id,
        agent,
        row_number() over (partition by session_id order by turn_index) as speaking_order,

    from first_turns

),

-- What the turn says goes before what its session says.
valued as (

    select
        turns.session_id,
        turns.turn_index,
        groupings.attribute,
        coalesce(
            case groupings.attribute
                when 'language' then turns.language
                when 'condition' then turns.condition
                when 'phase' then turns.phase
                when 'role' then turns.role
                when 'side' then turns.side
                when 'agent' then turns.agent
                when 'model_id' then turns.model_id
                when 'speaking_order' then speakers.speaking_order::varchar
            end,
            archive_turns.extra::json -> 'attributes' ->> groupings.attribute,
            sessions.extra::json -> 'attributes' ->> groupings.attribute
        ) as value,

    from turns
    cross join groupings
    join sessions on sessions.session_id = turns.session_id
    join archive_turns
        on archive_turns.session_id = turns.session_id
        and archive_turns.turn_index = turns.turn_index
    left join speakers
        on speakers.session_id = turns.session_id
        and speakers.agent = turns.agent

),

final as (

    select * from valued
    where value is not null

)

select * from final
