-- An interval has both ends in order and a verdict about zero, or none of these and the status no_interval.
-- Why: a half interval would be drawn as if it were one.
-- Returns: estimates whose interval contradicts itself.

select *
from {{ ref('gap_estimates') }}
where (interval_status = 'no_interval') <> (ci_low is null)
    or (ci_low is null) <> (ci_high is null)
    or (ci_low is null) <> (ci_excludes_zero is null)
    or ci_low > ci_high
    or ci_excludes_zero <> (ci_low > 0 or ci_high < 0)
