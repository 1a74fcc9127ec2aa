{#-
    The parts of the condition of a translated session, `<condition> translated from zh` or `<condition> round trip
    through zh` [paper E.4]; empty for every other condition.
-#}
{% macro translation_part(condition, part) -%}
    regexp_extract(
        {{- condition }}, '^(.+) (translated from|round trip through) ([a-z]{2,3})$',
        {{- {'condition': 1, 'kind': 2, 'language': 3}[part] -}}
    )
{%- endmacro %}
