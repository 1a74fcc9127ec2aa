with

source as (

    select * from {{ source('null_maxima', 'null_maxima') }}

),

final as (

    select
        session_id,
        other_session_id,
        turn_index,
        extractor,
        encoder,
        field,

        n_draws,
        mean,
        sum_squared_deviations,

    from source

)

select * from final
