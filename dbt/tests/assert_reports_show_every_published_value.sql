-- Each published value of a table stands exactly once in its report.
-- Why: a label that the seeds do not map would lose its row, or double it.
-- Returns: reports with another number of published values than the paper's table.

{% set reports = {
    '3': 'table_03', '4': 'table_04', '5': 'table_05', '6': 'table_06', '8': 'table_08', '9': 'table_09',
    '7': 'table_07', '10': 'table_10', '11': 'table_11', '19': 'table_19', '23': 'table_23', '25': 'table_25',
    '1': 'table_01', '17': 'table_17', '20': 'table_20', '21': 'table_21', '22': 'table_22', '24': 'table_24',
    '2': 'table_02', '18': 'table_18', '26': 'table_26', '27': 'table_27', '28': 'table_28', '29': 'table_29',
    '32': 'table_32', '33': 'table_33', '34': 'table_34',
} -%}
{#- Columns of a report that hold a printed value of their own. -#}
{% set beside = {
    '17': '+ count(published_std_error)', '24': '+ count(published_std_error) + count(published_n_turns)',
    '33': '+ count(published_uncertainty)',
} -%}

with

shown as (

    {% for number, report in reports.items() %}
    select
        '{{ number }}' as "table",
        count(published_value) {{ beside.get(number, '') }} as n_values,

    from {{ ref(report) }}
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
