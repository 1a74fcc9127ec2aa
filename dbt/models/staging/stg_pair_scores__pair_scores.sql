with

source as (

    select * from {{ source('pair_scores', 'pair_scores') }}

),

final as (

    select
        argument_id,
        nearest_argument_id,
        extractor,
        field,
        scorer,

        score,

    from source

)

select * from final
