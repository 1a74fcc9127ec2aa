-- All annotations of a pair, or of a turn, name one stratum and one weight.
-- Why: the weight stands for the pair in weighted rates; of two, one would be taken silently.
-- Returns: pairs and turns with several.

select
    task,
    argument_id,
    nearest_argument_id,
    session_id,
    turn_index,
    count(distinct stratum) as n_strata,
    count(distinct weight) as n_weights,

from {{ ref('annotations') }}
group by all
having n_strata > 1 or n_weights > 1
