select
    specification, term, language, reference_language, condition, estimate, std_error, ci_low, ci_high,
    ci_excludes_zero, n_turns, n_motions, n_resamples, seed, dropped_columns, singular, interval_status, interval_note
from marts.regression_estimates
where
    condition = $condition
    and extractor = $extractor
    and encoder = $encoder
    and field = $field
    and variant = 'raw'
order by specification, term, language
