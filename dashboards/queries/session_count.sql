select count(*) as sessions
from marts.sessions
