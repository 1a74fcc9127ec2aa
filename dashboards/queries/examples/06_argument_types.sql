-- Kinds of argument by language
select
    language, argument_type, count(*) as arguments,
    round(count(*) / sum(count(*)) over (partition by language), 3) as share
from marts.arguments
group by language, argument_type
order by language, arguments desc
