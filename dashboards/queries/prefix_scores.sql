select
    judge, dimension, language, n_turns, count(score) as sessions, avg(score) as mean_score, avg(whole_score) as mean_whole,
    avg(gain) as mean_gain
from marts.prefix_scores
group by all
order by judge, dimension, language, n_turns
