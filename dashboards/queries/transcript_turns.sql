select
    turns.turn_index, turns.phase, turns.role, turns.side, turns.agent, turns.model_id, turns.text,
    turns.sentence_count, turns.expected_sentences, turns.text_length, turns.length_unit, turns.finish_reason,
    measured.mean_arg_max_prev, measured.null_reason, measured.prior_pool_size, measured.n_arguments
from marts.turns
left join marts.turn_similarity as measured
    on
        measured.session_id = turns.session_id
        and measured.turn_index = turns.turn_index
        and measured.extractor = $extractor
        and measured.encoder = $encoder
        and measured.field = $field
        and measured.variant = 'raw'
where turns.session_id = $session
order by turns.turn_index
