with pool as (
    select language, similarity
    from marts.max_prior_pairs
    semi join (from marts.sessions where in_analysis) as analysed using (session_id)
    where
        list_contains($languages, language)
        and condition = $condition
        and extractor = $extractor
        and encoder = $encoder
        and field = $field
        and similarity is not null
),

thresholds as (
    select quantile_cont(similarity, [0.80, 0.90, 0.95]) as cuts from pool
)

select
    language,
    count(*) as n_arguments,
    avg(similarity) as mean_similarity,
    count(*) filter (similarity >= cuts[1]) / count(*) as share_above_80,
    count(*) filter (similarity >= cuts[2]) / count(*) as share_above_90,
    count(*) filter (similarity >= cuts[3]) / count(*) as share_above_95
from pool
cross join thresholds
group by language
order by language
