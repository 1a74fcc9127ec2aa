select distinct extractor, encoder, field, variant
from marts.session_similarity
order by all
