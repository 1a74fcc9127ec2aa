select view_name as name, comment
from duckdb_views()
where schema_name = 'reports' and database_name = current_database()
order by starts_with(view_name, 'table_') desc, name
