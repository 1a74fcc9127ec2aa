-- Turns that miss their sentence count
select language, condition, count(*) as turns,
    count(*) filter (sentence_count < expected_sentences) as under,
    count(*) filter (sentence_count > expected_sentences) as over
from marts.turns
group by all
order by language, condition
