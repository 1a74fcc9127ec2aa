-- Which agent returns to its own arguments most
select
    agent, encoder, count(*) as arguments, round(avg(same_agent::int), 3) as share_nearest_is_own,
    round(avg(similarity), 4) as mean_similarity
from marts.max_prior_pairs
where field = 'claim'
group by agent, encoder
order by encoder, share_nearest_is_own desc
