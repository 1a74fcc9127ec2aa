with

source as (

    select * from {{ source('estimates', 'instrument_alignment') }}

),

final as (

    select
        instrument_kind,
        instrument,
        field,
        language,
        measure,
        n_pairs,
        n_positive,

        estimate,
        ci_low,
        ci_high,
        ci_excludes_zero,
        n_motions,
        n_resamples,
        seed,
        interval_status,
        interval_note,

    from source

)

select * from final
