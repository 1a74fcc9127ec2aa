-- The nearest argument is from a strictly earlier turn of the same session.
-- Why: a pool that held the turn's own or later arguments would measure something else [paper 3.3].
-- Returns: pairs whose nearest argument is elsewhere, or is missing or present against the size of the pool.

select
    pairs.*,
    nearest.session_id as nearest_session_id,

from {{ ref('max_prior_pairs') }} as pairs
left join {{ ref('arguments') }} as nearest
    on nearest.argument_id = pairs.nearest_argument_id
    and nearest.extractor = pairs.extractor
where nearest.session_id <> pairs.session_id
    or nearest.turn_index >= pairs.turn_index
    or (pairs.prior_pool_size = 0) <> (pairs.nearest_argument_id is null)
    or (pairs.nearest_argument_id is null) <> (pairs.similarity is null)
