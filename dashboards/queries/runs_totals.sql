select
    (select count(*) from marts.planned_debates) as debates,
    (select count(*) from marts.planned_debates where status = 'complete') as complete,
    (select count(*) from marts.planned_debates where status in ('partial', 'failed')) as broken_off,
    (select count(*) from marts.planned_debates where status = 'waiting') as waiting,
    count(*) filter (where outcome = 'answered') as answered,
    count(*) filter (where outcome in ('item_failed', 'halted', 'interrupted')) as failed,
    count(*) filter (where outcome = 'in_flight') as in_flight,
    sum(input_tokens)::bigint as input_tokens,
    sum(output_tokens)::bigint as output_tokens,
    sum(cost_usd)::double as cost_usd,
    count(*) filter (where may_be_paid and cost_usd is null) as unpriced,
    (select count(*) from marts.runs where finished_at is null) as going_on
from marts.calls
