select
    measure, language, condition, reference_condition, extractor, mean_amount, reference_mean_amount, estimate, ci_low,
    ci_high, ci_excludes_zero, n_motions, interval_status, interval_note
from marts.output_volume
order by measure, condition, language
