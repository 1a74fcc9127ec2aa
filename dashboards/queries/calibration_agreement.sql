select
    comparison, judge, dimension, language, measure, rater, other_rater, n_items, estimate, ci_low, ci_high, n_motions,
    interval_status, interval_note
from marts.agreement
where dimension in ('repetition', 'label', 'quality') or comparison <> 'annotators'
order by comparison, judge nulls first, dimension, language nulls first, measure, rater, other_rater
