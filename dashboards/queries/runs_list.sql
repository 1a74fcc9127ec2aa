select
    runs.run_id,
    runs.purpose,
    runs.study,
    runs.started_at,
    runs.finished_at,
    runs.ending,
    runs.spending_cap_usd::double as spending_cap_usd,
    runs.litellm_version,
    count(calls.attempt_id) as attempts,
    sum(calls.cost_usd)::double as cost_usd,
    count(*) filter (where calls.may_be_paid and calls.cost_usd is null) as unpriced
from marts.runs
left join marts.calls on calls.run_id = runs.run_id
group by all
order by runs.run_id desc
limit 50
