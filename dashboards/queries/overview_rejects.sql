select table_name, reason, count(*) as records, any_value(detail) as example
from marts.rejects
group by table_name, reason
order by records desc, table_name, reason
