{#-
    The parts of the condition of a continuation, `<agent> temperature=0.2` or `<agent> top_p=0.85` [paper E.3]; empty
    for every other condition.
-#}
{% macro decoding_part(condition, part) -%}
    regexp_extract({{ condition }}, '^(.+) (temperature|top_p)=([0-9.]+)$', {{ {'agent': 1, 'parameter': 2, 'value': 3}[part] }})
{%- endmacro %}
