select
    variant, aggregate, language, n_cells, n_sessions, estimate, ci_low, ci_high, n_motions, interval_status,
    interval_note
from marts.repeat_noise
where extractor = $extractor and encoder = $encoder and field = $field
order by variant, aggregate, language nulls first
