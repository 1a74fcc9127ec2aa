select
    encoder, language, condition, reference_condition, estimate, ci_low, ci_high, ci_excludes_zero, n_motions,
    interval_status, interval_note
from marts.gap_estimates
where
    contrast = 'condition_effect'
    and condition = $condition
    and extractor = $extractor
    and field = $field
    and variant = $variant
    and aggregate = $aggregate
order by encoder, language
