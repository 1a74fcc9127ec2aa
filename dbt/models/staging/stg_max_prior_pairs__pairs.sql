with

source as (

    select * from {{ source('max_prior_pairs', 'pairs') }}

),

final as (

    select
        argument_id,
        extractor,
        encoder,
        field,

        session_id,
        turn_index,

        nearest_argument_id,
        similarity,
        fixed_k5,
        fixed_k10,
        prior_pool_size,
        over_max_length,

    from source

)

select * from final
