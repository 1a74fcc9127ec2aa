with relations as (
    select schema_name, table_name, comment
    from duckdb_tables()
    where database_name = current_database()
    union all
    select schema_name, view_name as table_name, comment
    from duckdb_views()
    where database_name = current_database()
)

select
    columns.schema_name, columns.table_name, relations.comment as table_comment, columns.column_name,
    columns.data_type, columns.comment
from duckdb_columns() as columns
inner join relations using (schema_name, table_name)
where columns.database_name = current_database() and columns.schema_name in ('marts', 'reports', 'meta')
order by columns.schema_name, columns.table_name, columns.column_index
