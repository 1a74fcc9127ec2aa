with

turns as (

    select * from {{ ref('int_turns') }}

),

extraction_parses as (

    select * from {{ ref('stg_argument_units__extraction_parses') }}

),

extractors as (

    select * from {{ ref('int_extractors') }}

),

-- An extractor that was not run on a session owes it nothing; one that answered a single turn owes it all of them. The
-- primary extractor owes an answer to a session that nobody answered, or that session would vanish without a reason.
session_extractors as (

    select distinct
        session_id,
        extractor,

    from extraction_parses

    union

    select
        turns.session_id,
        extractors.extractor,

    from turns
    anti join extraction_parses using (session_id)
    join extractors on extractors.is_primary

),

outcomes as (

    select
        turns.* exclude (n_arguments),
        session_extractors.extractor,
        extraction_parses.parsed,
        if(extraction_parses.parsed, extraction_parses.n_arguments, null) as n_arguments,

    from turns
    join session_extractors on session_extractors.session_id = turns.session_id
    left join extraction_parses
        on extraction_parses.session_id = turns.session_id
        and extraction_parses.turn_index = turns.turn_index
        and extraction_parses.extractor = session_extractors.extractor

),

final as (

    select
        session_id,
        turn_index,
        extractor,

        motion_id,
        language,
        condition,
        repeat,

        phase,
        role,
        side,
        agent,

        n_arguments,
        -- The pool holds strictly earlier turns only: arguments of the same turn never count as prior.
        coalesce(sum(n_arguments) over (
            partition by session_id, extractor
            order by turn_index
            rows between unbounded preceding and 1 preceding
        ), 0)::integer as prior_pool_size,
        case
            when parsed is null then 'extraction_missing'
            when not parsed then 'extraction_failed'
            else 'parsed'
        end as extraction_status,

    from outcomes

)

select * from final
