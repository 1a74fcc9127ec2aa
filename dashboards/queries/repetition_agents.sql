select
    encoder, agent, avg(agent_similarity order by session_id) as similarity, count(agent_similarity) as n_sessions
from marts.agent_similarity
where
    condition = $condition
    and extractor = $extractor
    and field = $field
    and variant = $variant
group by encoder, agent
order by encoder, agent
