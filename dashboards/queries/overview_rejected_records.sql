select part, file, line, table_name, record_id, reason, detail, left(raw_line, 300) as raw_line_start
from marts.rejects
order by part, file, line
limit 200
