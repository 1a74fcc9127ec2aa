select status, n_turns, count(*) as sessions
from marts.sessions
where not in_analysis
group by status, n_turns
order by sessions desc, status, n_turns
