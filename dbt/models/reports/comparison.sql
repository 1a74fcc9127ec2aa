with

prior_argument_similarity as (

    select
        *,
        rowid as position,

    from {{ ref('prior_argument_similarity') }}

),

{#- Tables whose reports have one row per published cell. -#}
{% set tables = [
    '01', '02', '03', '04', '05', '06', '07', '08', '09', '10', '11', '17', '18', '19', '21', '22', '23', '24', '25',
    '26', '27', '28', '29', '32', '33', '34',
] %}
{#- These reports have no column of languages. -#}
{% set of_no_language = ['02', '27'] %}

{% for table in tables %}
table_{{ table }} as (

    select * from {{ ref('table_' ~ table) }}

),

{% endfor %}
table_20 as (

    select * from {{ ref('table_20') }}

),

reported as (

    {% for table in tables %}
    select
        '{{ table.lstrip('0') }}' as "table",
        published_row,
        published_column,
        {% if table in of_no_language %}
        null::varchar as language,
        {% else %}
        language,
        {% endif %}
        estimate,
        ci_low,
        ci_high,
        coalesce(missing, interval_note) as note,

    from table_{{ table }}
    where published_row is not null

    union all by name
    {% endfor %}

    -- Cells that stand beside another in one row of their report.
    select
        '17' as "table",
        published_row,
        'SE' as published_column,
        language,
        std_error as estimate,
        coalesce(missing, case when std_error is null then 'The bootstrap gives no standard error.' end) as note,

    from table_17
    where published_row is not null

    union all by name

    select
        '24' as "table",
        published_row,
        'SE' as published_column,
        language,
        std_error as estimate,
        missing as note,

    from table_24
    where published_row is not null

    union all by name

    select
        '24' as "table",
        published_row,
        'N' as published_column,
        language,
        n_turns::double as estimate,
        missing as note,

    from table_24
    where published_row is not null

    union all by name

    select
        '33' as "table",
        published_row,
        'Uncertainty' as published_column,
        language,
        ci_low,
        ci_high,
        coalesce(missing, interval_note) as note,

    from table_33
    where published_row is not null

    union all by name

    select
        '20' as "table",
        published_row,
        published_column,
        language,
        lowest as ci_low,
        highest as ci_high,
        coalesce(missing, 'A range over pairs of encoders, from ci_low to ci_high; no interval.') as note,

    from table_20
    where published_row is not null

),

final as (

    select
        cells."table",
        cells."row",
        cells."column",
        reported.language,

        reported.estimate,
        reported.ci_low,
        reported.ci_high,

        cells.value as published_value,
        cells.estimate as published_estimate,
        cells.ci_low as published_ci_low,
        cells.ci_high as published_ci_high,

        reported.estimate - cells.estimate as difference,
        reported.note,

    from prior_argument_similarity as cells
    left join reported
        on reported."table" = cells."table"
        and reported.published_row = cells."row"
        and reported.published_column = cells."column"
    order by cells."table"::integer, cells.position

)

select * from final
