with

source as (

    select * from {{ source('argument_units', 'arguments') }}

),

final as (

    select
        argument_id,
        extractor,

        session_id,
        language,
        turn_index,
        argument_index,

        claim,
        warrant,
        evidence_or_example,
        argument_type_raw,

        extra,

    from source

)

select * from final
