with

source as (

    select * from {{ source('estimates', 'extraction_audit_rates') }}

),

final as (

    select
        dimension,
        condition,
        language,
        reference_language,
        n_turns,

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
