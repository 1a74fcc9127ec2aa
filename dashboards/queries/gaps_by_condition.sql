select
    encoder, condition, language, reference_language, estimate, ci_low, ci_high, ci_excludes_zero, n_motions,
    interval_status, interval_note
from marts.gap_estimates
where
    contrast = 'language_gap'
    and language = $language
    and condition in ($baseline, $condition)
    and extractor = $extractor
    and field = $field
    and variant = $variant
    and aggregate = $aggregate
order by encoder, condition
