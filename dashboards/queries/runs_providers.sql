select
    provider,
    stage,
    count(*) filter (where outcome = 'answered') as answered,
    count(*) filter (where outcome = 'transient') as tried_again,
    count(*) filter (where outcome in ('item_failed', 'halted')) as failed,
    count(*) filter (where outcome = 'interrupted') as interrupted,
    count(*) filter (where outcome = 'in_flight') as in_flight,
    avg((outcome in ('transient', 'item_failed', 'halted'))::int) filter (where outcome <> 'in_flight') as error_rate,
    median(latency_s) as median_latency_s,
    quantile_cont(latency_s, 0.95) as p95_latency_s,
    sum(input_tokens)::bigint as input_tokens,
    sum(cached_input_tokens)::bigint as cached_input_tokens,
    sum(output_tokens)::bigint as output_tokens,
    sum(reasoning_tokens)::bigint as reasoning_tokens,
    sum(cost_usd)::double as cost_usd,
    count(*) filter (where may_be_paid and cost_usd is null) as unpriced
from marts.calls
group by provider, stage
order by provider, stage
