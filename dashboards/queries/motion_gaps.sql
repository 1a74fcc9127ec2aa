with gaps as (
    select
        encoder, language, motion_id,
        case $aggregate when 'agent_mean' then gap else gap_turn_mean end as gap
    from marts.language_gaps
    where condition = $condition and extractor = $extractor and field = $field and variant = $variant
)

select
    encoder, language,
    count(gap) as motions,
    count(*) filter (gap > 0) as motions_above_reference,
    min(gap) as lowest,
    quantile_cont(gap, 0.25) as lower_quartile,
    median(gap) as median,
    quantile_cont(gap, 0.75) as upper_quartile,
    max(gap) as highest
from gaps
group by encoder, language
order by encoder, language
