with

source as (

    select * from {{ source('estimates', 'repeat_noise') }}

),

final as (

    select
        extractor,
        encoder,
        field,
        variant,
        aggregate,
        language,
        n_cells,
        n_sessions,
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
