{#-
    Fails with every combination of the `grain` columns that occurs twice (NULLs count as equal, as in GROUP BY), and
    with every row in which a column of `never_null` is NULL. Tables say the latter as constraints; views cannot.
-#}
{% test unique_grain(model, grain, never_null=[]) %}

select
    {{ grain | join(', ') }},
    count(*) as n_rows
from {{ model }}
group by all
having count(*) > 1
{% for column in never_null %}
union all
select
    {{ grain | join(', ') }},
    1 as n_rows
from {{ model }}
where {{ column }} is null
{% endfor %}

{% endtest %}
