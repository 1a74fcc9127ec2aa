{#- Schemas are named as people type them (`marts.turns`), without dbt's prefix for the target. -#}
{% macro generate_schema_name(custom_schema_name, node) -%}
    {{ custom_schema_name or target.schema }}
{%- endmacro %}


{#-
    Relations of the warehouse are written without their catalog. DuckDB keeps the body of a view as text and resolves
    `marts.turns` in the catalog that holds the view, whatever that is called: the published file is copied, renamed
    and attached under aliases. Relations of other databases (scratch) keep theirs.
-#}
{% macro ref() -%}
    {%- set relation = builtins.ref(*varargs, **kwargs) -%}
    {%- if relation.database == target.database -%}
        {{ return(relation.include(database=false)) }}
    {%- endif -%}
    {{ return(relation) }}
{%- endmacro %}
