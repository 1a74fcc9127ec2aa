-- Each published value of a table stands exactly once in its report.
-- Why: a label that the seeds do not map would lose its row, or double it.
-- Returns: reports with another number of published values than the paper's table.

{% set reports = {
    '3': 'table_03', '4': 'table_04', '5': 'table_05', '6': 'table_06', '8': 'table_08', '9': 'table_09',
} -%}

with

shown as (

    {% for number, report in reports.items() %}
    select '{{ number }}' as "table", count(published_value) as n_values from {{ ref(report) }}
    {{ 'union all' if not loop.last }}
    {% endfor %}

),

printed as (

    select "table", count(*) as n_values from {{ ref('prior_argument_similarity') }} group by all

)

select
    "table",
    shown.n_values as n_shown,
    printed.n_values as n_printed,

from shown
left join printed using ("table")
where shown.n_values is distinct from printed.n_values
