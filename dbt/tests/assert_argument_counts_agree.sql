-- A parsed answer has as many arguments as its parse says, and an unparsed one has none.
-- Why: n_arguments and prior pools are counted from parses, similarities from arguments.
-- Returns: answers whose two counts differ.

with

counted as (

    select
        session_id,
        turn_index,
        extractor,
        count(*) as n_arguments,

    from {{ ref('stg_argument_units__arguments') }}
    group by all

)

select
    parses.session_id,
    parses.turn_index,
    parses.extractor,
    parses.parsed,
    parses.n_arguments as n_parsed,
    counted.n_arguments as n_counted,

from {{ ref('stg_argument_units__extraction_parses') }} as parses
full join counted using (session_id, turn_index, extractor)
where coalesce(counted.n_arguments, 0) <> coalesce(parses.n_arguments, -1)
    or parses.parsed <> (parses.n_arguments > 0)
