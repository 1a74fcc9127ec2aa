{#-
    The rows of the relation `ours` beside those of `published`, joined on `keys`; a row that only one side has stays.

    `published` has the keys and value, estimate, ci_low, ci_high, ci_excludes_zero. `missing` is a sentence that says
    what would fill a row that only the paper has.
-#}
{% macro beside_published(keys, ours, missing) -%}
    select
        {% for key in keys %}
        coalesce(ours.{{ key }}, published.{{ key }}) as {{ key }},
        {% endfor %}

        {% for column in ours %}
        ours.{{ column }},
        {% endfor %}

        published.value as published_value,
        published.estimate as published_estimate,
        published.ci_low as published_ci_low,
        published.ci_high as published_ci_high,
        published.ci_excludes_zero as published_excludes_zero,

        case when ours.is_ours is null then '{{ missing }}' end as missing,

    from (select *, true as is_ours from ours) as ours
    full join published
        on {% for key in keys %}published.{{ key }} is not distinct from ours.{{ key }}
        {{ 'and ' if not loop.last }}{% endfor %}
{%- endmacro %}


{#- The columns of an estimate that the reports on instruments show. -#}
{% macro estimate_columns(n) -%}
    {{ return(['estimate', 'ci_low', 'ci_high', 'ci_excludes_zero', n, 'n_motions', 'interval_status', 'interval_note']) }}
{%- endmacro %}
