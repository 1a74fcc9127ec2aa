select encoder, bin, bin_low, bin_high, n_labelled, estimate, ci_low, ci_high, n_motions, interval_status, interval_note
from marts.calibration
where
    quantity = 'human_rate'
    and collapse = $collapse
    and (field is null or field = $field)
    and (extractor is null or extractor = $extractor)
order by encoder, bin
