select
    language, condition, n_turns, exact_rate, under_rate, over_rate, mean_sentences, mean_sentence_length, length_unit, note
from marts.sentence_audit
where motion_set = 'all'
order by condition, language
