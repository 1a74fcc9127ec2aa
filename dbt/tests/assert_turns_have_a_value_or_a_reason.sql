-- A turn has a similarity or the reason why it has none, never both and never neither.
-- Why: NULL is an answer here, and readers have to know which one.
-- Returns: rows with both or neither.

select *
from {{ ref('turn_similarity') }}
where (mean_arg_max_prev is null) = (null_reason is null)
