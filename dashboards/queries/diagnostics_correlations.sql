select language, condition, sentence_measure, outcome, spearman, n_turns, note
from marts.sentence_correlations
where
    condition = $condition
    and extractor = $extractor
    and (encoder is null or encoder = $encoder)
    and (field is null or field = $field)
order by sentence_measure, outcome, language
