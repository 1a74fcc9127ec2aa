-- Repeats are averaged within a motion first, so that every motion weighs the same.
with by_motion as (
    select language, turn_index, motion_id, avg(mean_arg_max_prev) as motion_mean
    from marts.turn_similarity
    semi join (from marts.sessions where in_analysis) as analysed using (session_id)
    where
        condition = $condition
        and extractor = $extractor
        and encoder = $encoder
        and field = $field
        and variant = $variant
    group by language, turn_index, motion_id
)

select language, turn_index, avg(motion_mean) as mean_similarity, count(motion_mean) as n_motions
from by_motion
group by language, turn_index
order by language, turn_index
