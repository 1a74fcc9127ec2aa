with counted as (
    select judge, language, coalesce(function, 'no reading: ' || failure_reason) as function, count(*) as pairs
    from marts.function_labels
    where round = 1
    group by all
)

select judge, language, function, pairs, pairs / sum(pairs) over (partition by judge, language) as share
from counted
order by judge, language, pairs desc, function
