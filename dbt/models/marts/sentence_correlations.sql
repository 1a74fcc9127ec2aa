with

sessions as (

    select * from {{ ref('sessions') }}

),

turns as (

    select * from {{ ref('turns') }}

),

turn_similarity as (

    select * from {{ ref('turn_similarity') }}

),

outcomes as (

    select * from {{ ref('int_extraction_outcomes') }}

),

values_of_turns as (

    select
        session_id,
        turn_index,
        'similarity' as outcome,
        extractor,
        encoder,
        field,
        mean_arg_max_prev as outcome_value,

    from turn_similarity
    where variant = 'raw' and mean_arg_max_prev is not null

    union all by name

    select
        session_id,
        turn_index,
        'n_arguments' as outcome,
        extractor,
        n_arguments::double as outcome_value,

    from outcomes
    where n_arguments is not null

),

audited as (

    select
        turns.session_id,
        turns.turn_index,
        turns.language,
        turns.condition,
        turns.sentence_count::double as sentence_count,
        abs(turns.sentence_count - turns.expected_sentences)::double as absolute_deviation,
        turns.text_length::double as text_length,

    from turns
    join sessions on sessions.session_id = turns.session_id
    where sessions.in_analysis

),

measures as (

    unpivot audited
    on sentence_count, absolute_deviation, text_length
    into name sentence_measure value sentence_value

),

pairs as (

    select
        measures.language,
        measures.condition,
        measures.sentence_measure,
        values_of_turns.outcome,
        values_of_turns.extractor,
        values_of_turns.encoder,
        values_of_turns.field,
        measures.session_id,
        measures.turn_index,
        measures.sentence_value,
        values_of_turns.outcome_value,

    from measures
    join values_of_turns
        on values_of_turns.session_id = measures.session_id
        and values_of_turns.turn_index = measures.turn_index

),

-- Spearman's correlation is Pearson's of the ranks; equal values share the middle of their ranks.
ranked as (

    select
        *,
        rank() over (
            partition by language, condition, sentence_measure, outcome, extractor, encoder, field
            order by sentence_value
        ) + (count(*) over (
            partition by language, condition, sentence_measure, outcome, extractor, encoder, field, sentence_value
        ) - 1) / 2 as sentence_rank,
        rank() over (
            partition by language, condition, sentence_measure, outcome, extractor, encoder, field
            order by outcome_value
        ) + (count(*) over (
            partition by language, condition, sentence_measure, outcome, extractor, encoder, field, outcome_value
        ) - 1) / 2 as outcome_rank,

    from pairs

),

final as (

    select
        language,
        condition,
        sentence_measure,
        outcome,
        extractor,
        encoder,
        field,

        case
            when min(sentence_value) < max(sentence_value) and min(outcome_value) < max(outcome_value)
                then corr(sentence_rank, outcome_rank order by session_id, turn_index)
        end as spearman,
        count(*) as n_turns,
        case
            when min(sentence_value) = max(sentence_value) then 'Every turn has the same sentence measure.'
            when min(outcome_value) = max(outcome_value) then 'Every turn has the same outcome.'
        end as note,

    from ranked
    group by all

)

select * from final
