with

extraction_parses as (

    select * from {{ ref('stg_argument_units__extraction_parses') }}

),

turns as (

    select * from {{ ref('int_turns') }}

),

final as (

    select
        extraction_parses.session_id,
        extraction_parses.turn_index,
        extraction_parses.extractor,

        extraction_parses.reason,
        extraction_parses.raw_response,
        extraction_parses.finish_reason,

        turns.language,
        turns.condition,
        turns.motion_id,

    from extraction_parses
    join turns
        on turns.session_id = extraction_parses.session_id
        and turns.turn_index = extraction_parses.turn_index
    where not extraction_parses.parsed

)

select * from final
