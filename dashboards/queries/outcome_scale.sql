select
    judge, dimension, language, condition, n_sessions, mean_score, sd_score, lowest_score, highest_score,
    n_distinct_scores, ceiling, ceiling_share
from marts.judge_scale
where language is not null and condition is not null
order by judge, dimension, condition, language
