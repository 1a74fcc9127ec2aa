select session_id, language, condition, repeat, status, in_analysis
from marts.sessions
where motion_id = $motion
order by language, condition, repeat, session_id
