{#- Fails with every combination of the `grain` columns that occurs twice. NULLs count as equal, as in GROUP BY. -#}
{% test unique_grain(model, grain) %}

select
    {{ grain | join(', ') }},
    count(*) as n_rows
from {{ model }}
group by all
having count(*) > 1

{% endtest %}
