{#-
    The rows of the relation `ours` beside those of `published`, joined on `keys`; a row that only one side has stays.

    `published` has the keys and the cell: row, column, value, estimate, ci_low, ci_high, ci_excludes_zero. `missing` is
    a sentence that says what would fill a row that only the paper has.
-#}
{% macro beside_published(keys, ours, missing) -%}
    select
        {% for key in keys %}
        coalesce(ours.{{ key }}, published.{{ key }}) as {{ key }},
        {% endfor %}

        {% for column in ours %}
        ours.{{ column }},
        {% endfor %}

        published."row" as published_row,
        published."column" as published_column,
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


{#- The columns of an estimate that the reports show. -#}
{% macro estimate_columns(n='n_motions') -%}
    {{ return(
        ['estimate', 'ci_low', 'ci_high', 'ci_excludes_zero']
        + ([n] if n != 'n_motions' else [])
        + ['n_motions', 'interval_status', 'interval_note']
    ) }}
{%- endmacro %}


{#-
    The estimates that the paper's tables of contrasts rest on: claims, the plain measure, the mean over agents, one
    extractor. Reads the relations study and `relation`; further conditions can follow with `and`.
-#}
{% macro headline_estimates(contrasts, relation='gap_estimates') -%}
    select {{ relation }}.*
    from {{ relation }}
    join study on study.primary_extractor = {{ relation }}.extractor
    where {{ relation }}.contrast in ('{{ contrasts | join("', '") }}')
        and {{ relation }}.aggregate = 'agent_mean'
        and {{ relation }}.field = 'claim'
        and {{ relation }}.variant = 'raw'
{%- endmacro %}


{#- The columns of an interval for a figure that describes the debates and estimates nothing. -#}
{% macro no_interval() -%}
    null::double as ci_low,
    null::double as ci_high,
    null::boolean as ci_excludes_zero,
    null::varchar as interval_status,
    'Describes these debates: no interval is computed.' as interval_note,
{%- endmacro %}


{#-
    The rows of the relation `paired` (beside_published) by `columns`. An encoder, language or agent stands in the order
    that the paper prints, from the relation published_labels; another column is an expression. Where no row has both
    sides, the rows of this study come first.
-#}
{% macro in_published_order(columns) -%}
    {%- set labelled = [] -%}
    {%- for column in columns if column.split('_')[-1] in ('encoder', 'language', 'agent') -%}
        {%- do labelled.append(column) -%}
    {%- endfor -%}
    select paired.*
    from paired
    {% for column in labelled %}
    left join published_labels as {{ column }}_labels
        on {{ column }}_labels.kind = '{{ column.split('_')[-1] }}'
        and {{ column }}_labels.code = paired.{{ column }}
    {% endfor %}
    order by
        paired.missing is not null
        and not bool_or(paired.missing is null and paired.published_value is not null) over (),
        {% for column in columns %}
        {{ column ~ '_labels.position nulls last, paired.' if column in labelled }}{{ column }} nulls first
        {{- ',' if not loop.last }}
        {% endfor %}
{%- endmacro %}


{#- The place of a condition in the order that the paper prints. -#}
{% macro conditions_as_published() -%}
    {{ return(
        "list_position(['baseline', 'diversity', 'p1_paraphrase', 'p2_minimal', 'p3_strong_novelty', "
        ~ "'p4_targeted_clash'], condition)"
    ) }}
{%- endmacro %}
