with

turns as (

    select * from {{ ref('int_turns') }}

),

final as (

    select
        session_id,
        turn_index,

        phase,
        role,
        side,
        agent,
        model_id,

        text,
        sentence_count,
        expected_sentences,
        text_length,
        length_unit,

        n_arguments,

        finish_reason,
        input_tokens,
        output_tokens,

        motion_id,
        language,
        condition,
        repeat,

    from turns

)

select * from final
