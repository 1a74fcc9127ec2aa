with counted as (
    select language, floor(similarity / $bin_width)::bigint as bin, count(*) as n_arguments
    from marts.max_prior_pairs
    semi join (from marts.sessions where in_analysis) as analysed using (session_id)
    where
        list_contains($languages, language)
        and condition = $condition
        and extractor = $extractor
        and encoder = $encoder
        and field = $field
        and similarity is not null
    group by language, bin
)

select
    language, bin * $bin_width as bin_low, n_arguments,
    n_arguments / sum(n_arguments) over (partition by language) as share
from counted
order by language, bin_low
