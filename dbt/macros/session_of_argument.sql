{#- The session of an argument id, session_id/turn_index/argument_index; a session id may hold slashes itself. -#}
{% macro session_of_argument(argument_id) -%}
    regexp_extract({{ argument_id }}, '^(.*)/\d+/\d+$', 1)
{%- endmacro %}
