select
    arguments.argument_id, arguments.session_id, arguments.language, arguments.turn_index, arguments.phase,
    arguments.role, arguments.side, arguments.agent, arguments.argument_type, arguments.claim, arguments.warrant,
    arguments.evidence_or_example, turns.text as turn_text, sessions.motion_text
from marts.arguments
inner join marts.turns using (session_id, turn_index)
inner join marts.sessions on sessions.session_id = arguments.session_id
where list_contains([$argument, $nearest], arguments.argument_id) and arguments.extractor = $extractor
order by arguments.turn_index
