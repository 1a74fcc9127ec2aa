with

source as (

    select * from {{ source('estimates', 'group_gaps') }}

),

final as (

    select
        attribute,
        value,
        reference_value,
        extractor,
        encoder,
        field,
        variant,
        cluster,

        group_mean,
        reference_mean,
        estimate,
        ci_low,
        ci_high,
        ci_excludes_zero,
        n_clusters,
        n_resamples,
        seed,
        interval_status,
        interval_note,

    from source

)

select * from final
