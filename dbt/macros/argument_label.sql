{#- An extractor's label without case and surrounding white space: what is compared with the list of types [D.3]. -#}
{% macro argument_label(raw) -%}
    coalesce(lower(regexp_replace({{ raw }}, '^[{{ whitespace() }}]+|[{{ whitespace() }}]+$', '', 'g')), '')
{%- endmacro %}
