-- Each published cell stands in the comparison with a value of this study or with what would fill it.
-- Why: a cell that no report claims would be an empty line that nobody misses.
-- Returns: cells with neither.

select
    "table",
    "row",
    "column",

from {{ ref('comparison') }}
where estimate is null
    and ci_low is null
    and note is null
