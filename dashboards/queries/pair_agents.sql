select distinct agent
from marts.turns
where agent is not null
order by agent
