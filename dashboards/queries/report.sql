select *
from query_table($report)
