with

source as (

    select * from {{ source('archive', 'annotations') }}

),

final as (

    select
        task,
        annotator,
        round,
        argument_id,
        nearest_argument_id,
        session_id,
        turn_index,

        label,

        quality,
        all_major_captured,
        over_split,
        under_split,
        hallucination,
        missing_major,

        stratum,
        weight,
        note,
        try_cast(created_at as timestamptz) as created_at,

        part,
        file,
        line,
        extra,

    from source

)

select * from final
