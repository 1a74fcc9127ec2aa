select
    instrument_kind, instrument, field, language, measure, n_pairs, n_positive, estimate, ci_low, ci_high, n_motions,
    interval_status, interval_note
from marts.instrument_alignment
where field is null or field = $field
order by instrument_kind, instrument, language nulls first, measure
