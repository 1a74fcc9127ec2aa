with

source as (

    select * from {{ source('argument_units', 'extraction_parses') }}

),

final as (

    select
        session_id,
        turn_index,
        extractor,

        language,
        parsed,
        reason,
        labels,
        n_arguments,
        n_blank_claims,

        finish_reason,
        raw_response,

    from source

)

select * from final
