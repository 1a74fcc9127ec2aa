-- Percentiles of the scorer's own values, pooled over the chosen languages.
with pooled as (
    select quantile_cont(similarity, [0.80, 0.90, 0.95]) as cuts, count(similarity) as n_arguments
    from marts.max_prior_pairs
    semi join (from marts.sessions where in_analysis) as analysed using (session_id)
    where
        list_contains($languages, language)
        and condition = $condition
        and extractor = $extractor
        and encoder = $encoder
        and field = $field
)

select unnest([80, 90, 95]) as percentile, unnest(cuts) as threshold, n_arguments
from pooled
where n_arguments > 0
