select
    encoder, agent, reference_agent, estimate, ci_low, ci_high, ci_excludes_zero, n_motions, interval_status,
    interval_note
from marts.gap_estimates
where
    contrast = 'agent_contrast'
    and language = $language
    and condition = $condition
    and extractor = $extractor
    and field = $field
    and variant = $variant
order by encoder, agent, reference_agent
