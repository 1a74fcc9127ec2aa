with

sessions as (

    select * from {{ ref('int_sessions') }}

),

turn_attributes as (

    select * from {{ ref('int_turn_attributes') }}

),

turn_similarity as (

    select * from {{ ref('turn_similarity') }}

),

final as (

    select
        turn_similarity.session_id,

        turn_similarity.motion_id,
        turn_similarity.language,
        turn_similarity.condition,
        turn_similarity.repeat,

        turn_attributes.attribute,
        turn_attributes.value,

        turn_similarity.extractor,
        turn_similarity.encoder,
        turn_similarity.field,
        turn_similarity.variant,

        avg(turn_similarity.mean_arg_max_prev order by turn_similarity.turn_index) as similarity,
        count(turn_similarity.mean_arg_max_prev) as n_scoreable_turns,

    from turn_similarity
    join sessions on sessions.session_id = turn_similarity.session_id
    join turn_attributes
        on turn_attributes.session_id = turn_similarity.session_id
        and turn_attributes.turn_index = turn_similarity.turn_index
    where sessions.in_analysis
    group by all

)

select * from final
