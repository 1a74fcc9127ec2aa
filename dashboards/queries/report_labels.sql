select language, count(*) as pairs, avg(repeated::int) as share_repeated
from marts.adjudicated_labels
group by language
order by language
