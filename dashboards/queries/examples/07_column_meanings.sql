-- What a column means
select table_name, column_name, data_type, comment
from duckdb_columns()
where schema_name = 'marts' and comment is not null
order by table_name, column_index
