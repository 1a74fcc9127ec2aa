-- Whether a turn has a similarity depends on its extractor alone, so one encoder and one field count each turn once.
with one_measure as (
    select * from marts.turn_similarity
    where
        variant = 'raw'
        and (encoder, field) = (select (encoder, field) from marts.turn_similarity order by encoder, field limit 1)
)

select extractor, null_reason, count(*) as turns
from one_measure
group by extractor, null_reason
order by extractor, turns desc
