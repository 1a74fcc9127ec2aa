select
    arguments.argument_id, arguments.turn_index, arguments.argument_index, arguments.argument_type,
    arguments.claim, arguments.warrant, arguments.evidence_or_example,
    pairs.similarity, pairs.prior_pool_size, pairs.nearest_turn_index, pairs.nearest_agent, pairs.same_agent,
    pairs.same_side, pairs.nearest_argument_id,
    nearest.claim as nearest_claim, nearest.warrant as nearest_warrant,
    nearest.evidence_or_example as nearest_evidence_or_example
from marts.arguments
left join marts.max_prior_pairs as pairs
    on
        pairs.argument_id = arguments.argument_id
        and pairs.extractor = arguments.extractor
        and pairs.session_id = arguments.session_id
        and pairs.encoder = $encoder
        and pairs.field = $field
left join marts.arguments as nearest
    on
        nearest.argument_id = pairs.nearest_argument_id
        and nearest.extractor = arguments.extractor
        and nearest.session_id = arguments.session_id
where arguments.session_id = $session and arguments.extractor = $extractor
order by arguments.turn_index, arguments.argument_index
