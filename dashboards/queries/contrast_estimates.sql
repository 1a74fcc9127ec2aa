select
    language, reference_language, condition, reference_condition, agent, reference_agent, encoder, estimate, ci_low,
    ci_high, ci_excludes_zero, n_motions, interval_status, interval_note, n_resamples, seed
from marts.gap_estimates
where
    contrast = $contrast
    and list_contains($languages, language)
    and condition = $condition
    and agent is not distinct from $agent
    and reference_agent is not distinct from $reference_agent
    and extractor = $extractor
    and encoder = $encoder
    and field = $field
    and variant = $variant
    and aggregate = $aggregate
order by language
