select
    scorer, percentile, language, reference_language, quantity, threshold, n_pairs, estimate, ci_low, ci_high,
    ci_excludes_zero, n_motions, interval_status, interval_note
from marts.tail_rates
where
    condition = $condition
    and extractor = $extractor
    and encoder = $encoder
    and field = $field
order by scorer, percentile, language, quantity
