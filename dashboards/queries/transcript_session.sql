select session_id, motion_id, motion_text, language, condition, repeat, status, n_turns, n_arguments, in_analysis
from marts.sessions
where session_id = $session
