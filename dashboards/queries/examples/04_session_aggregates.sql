-- Do the two session aggregates disagree
select
    encoder, language, condition, round(avg(agent_mean), 4) as agent_mean, round(avg(turn_mean), 4) as turn_mean,
    round(avg(agent_mean - turn_mean), 4) as difference
from marts.session_similarity
where field = 'claim' and variant = 'raw'
group by all
order by encoder, language, condition
