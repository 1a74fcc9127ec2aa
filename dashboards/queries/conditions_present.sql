select distinct condition
from marts.sessions
order by condition
