with

sessions as (

    select * from {{ ref('int_sessions') }}

),

null_maxima as (

    select * from {{ ref('stg_null_maxima__null_maxima') }}

),

-- Only debates that are analysed: the null is that of the values it is compared with.
analysed as (

    select
        sessions.language,
        sessions.condition,
        null_maxima.*,

    from null_maxima
    join sessions on sessions.session_id = null_maxima.session_id
    join sessions as other on other.session_id = null_maxima.other_session_id
    where sessions.in_analysis
        and other.in_analysis

),

means as (

    select
        language,
        condition,
        extractor,
        encoder,
        field,
        turn_index,
        sum(n_draws * mean order by session_id, other_session_id) / sum(n_draws) as null_mean,

    from analysed
    group by all

),

-- Spread within the comparisons of one session with another, and of their means, add up to that of all draws together.
squares as (

    select
        analysed.language,
        analysed.condition,
        analysed.extractor,
        analysed.encoder,
        analysed.field,
        analysed.turn_index,

        any_value(means.null_mean) as null_mean,
        sum(
            analysed.sum_squared_deviations + analysed.n_draws * power(analysed.mean - means.null_mean, 2)
            order by analysed.session_id, analysed.other_session_id
        ) as sum_squared_deviations,
        sum(analysed.n_draws)::bigint as n_draws,
        count(distinct analysed.session_id) as n_sessions,

    from analysed
    join means using (language, condition, extractor, encoder, field, turn_index)
    group by all

),

final as (

    select
        language,
        condition,
        extractor,
        encoder,
        field,
        turn_index,

        null_mean,
        sqrt(sum_squared_deviations / nullif(n_draws - 1, 0)) as null_sd,
        n_draws,
        n_sessions,

    from squares

)

select * from final
