select
    phase,
    count(*) as debates,
    count(*) filter (where status = 'complete') as complete,
    count(*) filter (where status = 'partial') as partial,
    count(*) filter (where status = 'failed') as failed,
    count(*) filter (where status = 'waiting') as waiting,
    sum(n_turns)::bigint as turns,
    string_agg(distinct code, ', ' order by code) filter (where code <> 'not_reached') as codes
from marts.planned_debates
group by phase
order by phase
