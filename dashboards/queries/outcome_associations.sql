select
    analysis, judge, dimension, language, reference_language, condition, reference_condition, encoder, n_sessions,
    estimate, ci_low, ci_high, ci_excludes_zero, std_error, p_value, n_distinct_scores, ceiling_share, n_motions,
    interval_status, interval_note
from marts.outcome_associations
where
    (encoder is null or encoder = $encoder)
    and (field is null or field = $field)
    and (extractor is null or extractor = $extractor)
order by analysis, judge, dimension, language nulls first
