-- The pool that an argument was compared with is the pool of its turn.
-- Why: embeddings and SQL count the pool separately; they must mean the same arguments.
-- Returns: pairs whose pool differs from their turn's.

select
    pairs.*,
    turns.prior_pool_size as turn_prior_pool_size,

from {{ ref('max_prior_pairs') }} as pairs
join {{ ref('turn_similarity') }} as turns using (session_id, turn_index, extractor, encoder, field)
where turns.variant = 'raw'
    and turns.prior_pool_size <> pairs.prior_pool_size
