with

source as (

    select * from {{ source('estimates', 'tail_rates') }}

),

final as (

    select
        condition,
        extractor,
        encoder,
        field,
        scorer,
        percentile,
        quantity,
        language,
        reference_language,
        threshold,
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
