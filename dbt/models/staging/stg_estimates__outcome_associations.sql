with

source as (

    select * from {{ source('estimates', 'outcome_associations') }}

),

final as (

    select
        analysis,
        judge,
        dimension,
        language,
        reference_language,
        condition,
        reference_condition,
        extractor,
        encoder,
        field,
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
        std_error,
        p_value,

    from source

)

select * from final
