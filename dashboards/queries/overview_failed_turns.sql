select session_id, turn_index, extractor, reason, finish_reason, left(raw_response, 300) as raw_response_start
from marts.extraction_failures
order by session_id, turn_index, extractor
limit 200
