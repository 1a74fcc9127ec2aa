select
    attribute, value, reference_value, encoder, group_mean, reference_mean, estimate, ci_low, ci_high, n_clusters,
    cluster, interval_status, interval_note
from marts.group_gaps
where
    extractor = $extractor
    and field = $field
    and variant = $variant
order by attribute, encoder, value
