select distinct language
from marts.sessions
order by language
