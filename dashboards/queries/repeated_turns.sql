with said as (
    select
        session_id, turn_index, agent, condition,
        min(turn_index) over (partition by session_id, trim(text)) as first_turn_index,
        left(text, 200) as text_start
    from marts.turns
    where trim(text) <> ''
)

select session_id, turn_index, first_turn_index, agent, text_start, count(*) over () as n_turns
from said
where
    turn_index > first_turn_index
    and condition = $condition
order by session_id, turn_index
limit 50
