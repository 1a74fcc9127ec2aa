select
    labels.language, labels.label, pairs.similarity, pairs.argument_id, pairs.nearest_argument_id, earlier.claim as earlier_claim,
    later.claim as later_claim
from marts.adjudicated_labels as labels
join marts.max_prior_pairs as pairs using (argument_id, nearest_argument_id)
join marts.arguments as later
    on later.argument_id = pairs.argument_id and later.extractor = pairs.extractor
join marts.arguments as earlier
    on earlier.argument_id = pairs.nearest_argument_id and earlier.extractor = pairs.extractor
where
    labels.label <= 1
    and pairs.encoder = $encoder
    and pairs.field = $field
    and pairs.extractor = $extractor
order by pairs.similarity desc, pairs.argument_id
limit 8
