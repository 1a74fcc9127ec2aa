with

study as (

    select * from {{ ref('study') }}

),

motion_sets as (

    select * from {{ ref('motion_sets') }}

),

sessions as (

    select * from {{ ref('sessions') }}

),

turns as (

    select * from {{ ref('turns') }}

),

audited as (

    select
        motion_sets.motion_set,
        turns.*,
        turns.sentence_count - turns.expected_sentences as deviation,
        turns.text_length / nullif(turns.sentence_count, 0) as sentence_length,

    from turns
    cross join study
    join sessions on sessions.session_id = turns.session_id
    join motion_sets
        on motion_sets.motion_id = turns.motion_id
        and (motion_sets.language is null or turns.language in (motion_sets.language, study.reference_language))
    where sessions.in_analysis

),

final as (

    select
        motion_set,
        language,
        condition,

        count(*) as n_turns,
        count(deviation) as n_expected,
        avg((deviation = 0)::int) as exact_rate,
        avg((deviation < 0)::int) as under_rate,
        avg((deviation > 0)::int) as over_rate,
        avg(sentence_count) as mean_sentences,
        avg(sentence_length order by session_id, turn_index) as mean_sentence_length,
        avg(text_length) as mean_text_length,
        any_value(length_unit) as length_unit,
        avg(n_arguments) as mean_arguments,

        case
            when count(deviation) = 0 then 'No turn of these debates has an expected number of sentences.'
        end as note,

    from audited
    group by all

)

select * from final
