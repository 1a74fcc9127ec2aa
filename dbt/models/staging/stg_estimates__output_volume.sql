with

source as (

    select * from {{ source('estimates', 'output_volume') }}

),

final as (

    select
        measure,
        language,
        condition,
        reference_condition,
        extractor,

        mean_amount,
        reference_mean_amount,
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
