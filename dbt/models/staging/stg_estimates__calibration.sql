with

source as (

    select * from {{ source('estimates', 'calibration') }}

),

final as (

    select
        quantity,
        collapse,
        condition,
        extractor,
        encoder,
        field,
        bin,
        bin_low,
        bin_high,
        language,
        reference_language,
        n_labelled,
        n_pairs,

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
