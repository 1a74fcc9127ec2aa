select
    attempt_id,
    finished_at,
    provider,
    agent,
    stage,
    session_id,
    turn_index,
    outcome,
    code,
    status,
    reason,
    left(failed_response, 4000) as failed_response
from marts.calls
where outcome in ('transient', 'item_failed', 'halted', 'interrupted')
order by attempt_id desc
limit 20
