select
    quantity, encoder, language, reference_language, n_labelled, n_pairs, estimate, ci_low, ci_high, ci_excludes_zero,
    n_motions, interval_status, interval_note
from marts.calibration
where
    quantity in ('weighted_rate', 'calibrated_rate')
    and collapse = $collapse
    and (field is null or field = $field)
    and (extractor is null or extractor = $extractor)
order by quantity desc, encoder, reference_language is not null, language
