with

source as (

    select * from {{ source('study', 'turn_template') }}

),

final as (

    select
        turn_index,

        phase,
        role,
        side,
        expected_sentences,
        label,

    from source

)

select * from final
