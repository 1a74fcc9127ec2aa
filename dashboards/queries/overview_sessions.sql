with turn_totals as (
    select
        language, condition, count(*) as turns, sum(n_arguments) as arguments,
        avg(n_arguments) as arguments_per_turn, avg(text_length) as mean_text_length, any_value(length_unit) as length_unit
    from marts.turns
    group by language, condition
),

session_totals as (
    select
        language, condition, count(*) as sessions, count(distinct motion_id) as motions,
        count(*) filter (status = 'complete') as complete, count(*) filter (in_analysis) as in_analysis
    from marts.sessions
    group by language, condition
)

select
    language, condition, motions, sessions, complete, in_analysis, turns, arguments,
    arguments_per_turn, mean_text_length, length_unit
from session_totals
left join turn_totals using (language, condition)
order by language, condition
