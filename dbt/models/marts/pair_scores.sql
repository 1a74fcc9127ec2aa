with

scores as (

    select * from {{ ref('stg_pair_scores__pair_scores') }}

),

arguments as (

    select * from {{ ref('arguments') }}

),

final as (

    select
        scores.argument_id,
        scores.nearest_argument_id,
        scores.extractor,
        scores.field,
        scores.scorer,

        scores.score,

        arguments.session_id,
        arguments.motion_id,
        arguments.language,
        arguments.condition,

    from scores
    join arguments
        on arguments.argument_id = scores.argument_id
        and arguments.extractor = scores.extractor

)

select * from final
