with

scores as (

    select * from {{ ref('outcome_scores') }} where score is not null and round = 1

),

sessions as (

    select * from {{ ref('int_sessions') }} where in_analysis

),

analysed as (

    select
        scores.*,
        max(scores.score) over (partition by scores.judge, scores.dimension) as highest_of_judge,

    from scores
    join sessions on sessions.session_id = scores.session_id

),

-- A judge's ceiling is the highest score it gives at all: many never give a 10.
final as (

    select
        judge,
        dimension,
        language,
        condition,

        count(*) as n_sessions,
        avg(score order by session_id) as mean_score,
        stddev_samp(score order by session_id) as sd_score,
        min(score) as lowest_score,
        max(score) as highest_score,
        count(distinct score) as n_distinct_scores,
        any_value(highest_of_judge) as ceiling,
        avg((score = highest_of_judge)::integer) as ceiling_share,

    from analysed
    group by judge, dimension, grouping sets ((language, condition), (language), ())

)

select * from final
