select language, turn_index, null_reason, count(*) as turns
from marts.turn_similarity
where
    condition = $condition
    and extractor = $extractor
    and encoder = $encoder
    and field = $field
    and variant = $variant
    and null_reason is not null
group by language, turn_index, null_reason
order by turn_index, language, null_reason
