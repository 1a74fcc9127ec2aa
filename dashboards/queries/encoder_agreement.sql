select
    if(encoder = $encoder, reference_encoder, encoder) as other_encoder, language, n_turns, estimate, ci_low, ci_high,
    ci_excludes_zero, n_motions, interval_status, interval_note
from marts.encoder_agreement
where
    $encoder in (encoder, reference_encoder)
    and condition = $condition
    and extractor = $extractor
    and field = $field
order by other_encoder, language
