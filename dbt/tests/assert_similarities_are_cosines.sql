-- Similarities lie between -1 and 1.
-- Why: anything else means that vectors were not normalised; the tolerance is single-precision rounding.
-- Returns: pairs out of range.

select *
from {{ ref('max_prior_pairs') }}
where not similarity between -1 - 1e-6 and 1 + 1e-6
