with

source as (

    select * from {{ source('estimates', 'agreement') }}

),

final as (

    select
        comparison,
        judge,
        dimension,
        language,
        measure,
        rater,
        other_rater,
        n_items,

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
