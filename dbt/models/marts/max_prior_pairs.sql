with

pairs as (

    select * from {{ ref('stg_max_prior_pairs__pairs') }}

),

arguments as (

    select * from {{ ref('arguments') }}

),

final as (

    select
        pairs.argument_id,
        pairs.extractor,
        pairs.encoder,
        pairs.field,

        pairs.nearest_argument_id,
        pairs.similarity,
        pairs.fixed_k5,
        pairs.fixed_k10,
        pairs.prior_pool_size,

        arguments.session_id,
        arguments.turn_index,
        arguments.motion_id,
        arguments.language,
        arguments.condition,
        arguments.agent,

        nearest.turn_index as nearest_turn_index,
        nearest.agent as nearest_agent,
        nearest.agent = arguments.agent as same_agent,
        nearest.side = arguments.side as same_side,

        pairs.over_max_length,

    from pairs
    join arguments
        on arguments.argument_id = pairs.argument_id
        and arguments.extractor = pairs.extractor
    left join arguments as nearest
        on nearest.argument_id = pairs.nearest_argument_id
        and nearest.extractor = pairs.extractor

)

select * from final
