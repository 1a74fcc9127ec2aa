select
    encoder, language, reference_language, estimate, ci_low, ci_high, ci_excludes_zero, n_motions,
    interval_status, interval_note, n_resamples, seed
from marts.gap_estimates
where
    contrast = 'language_gap'
    and condition = $condition
    and extractor = $extractor
    and field = $field
    and variant = $variant
    and aggregate = $aggregate
order by encoder, language
