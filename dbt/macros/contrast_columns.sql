{#- The columns that together name a contrast; those that do not apply to its kind are NULL. -#}
{% macro contrast_columns() -%}
    {{ return([
        'contrast', 'language', 'reference_language', 'condition', 'reference_condition', 'agent', 'reference_agent',
        'extractor', 'encoder', 'field', 'variant', 'aggregate',
    ]) }}
{%- endmacro %}
