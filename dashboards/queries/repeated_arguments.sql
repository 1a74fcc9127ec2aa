-- An argument is taken up again where a later one is nearest to it, in the upper tenth of all similarities.
with scored as (
    select *
    from marts.max_prior_pairs
    semi join (from marts.sessions where in_analysis) as analysed using (session_id)
    where
        condition = $condition
        and extractor = $extractor
        and encoder = $encoder
        and field = $field
        and similarity is not null
),

tail as (
    select * from scored
    where similarity >= (select quantile_cont(similarity, 0.90) from scored)
),

taken_up as (
    select
        nearest_argument_id as argument_id, extractor, count(*) as n_later, avg(similarity order by argument_id) as similarity
    from tail
    group by all
    order by n_later desc, similarity desc, nearest_argument_id
    limit 20
)

select
    taken_up.argument_id, arguments.session_id, arguments.turn_index, arguments.agent, arguments.claim,
    taken_up.n_later, taken_up.similarity
from taken_up
inner join marts.arguments
    on arguments.argument_id = taken_up.argument_id
    and arguments.extractor = taken_up.extractor
order by taken_up.n_later desc, taken_up.similarity desc, taken_up.argument_id
