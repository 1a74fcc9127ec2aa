-- The most similar pairs across sides
select pairs.similarity, pairs.language, pairs.session_id, nearest.claim as earlier, arguments.claim as later
from marts.max_prior_pairs as pairs
join marts.arguments using (argument_id, extractor)
join marts.arguments as nearest
    on nearest.argument_id = pairs.nearest_argument_id and nearest.extractor = pairs.extractor
where not pairs.same_side and pairs.field = 'claim'
order by pairs.similarity desc
limit 20
