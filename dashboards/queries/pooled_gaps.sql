select
    encoder, language, reference_language, condition, estimate, ci_low, ci_high, ci_excludes_zero, n_motions,
    interval_status, interval_note
from marts.gap_estimates
where
    contrast = 'language_gap'
    and aggregate = 'agent_mean'
    and language = $language
    and condition = $condition
    and extractor = $extractor
    and field = $field
    and variant = $variant
order by encoder
