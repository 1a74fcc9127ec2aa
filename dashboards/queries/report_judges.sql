select
    judge, dimension, sum(n_sessions)::bigint as sessions, max(n_distinct_scores) as n_distinct_scores,
    max(ceiling) as ceiling, max(ceiling_share) as ceiling_share
from marts.judge_scale
where language is null and condition is null
group by judge, dimension
order by judge, dimension
