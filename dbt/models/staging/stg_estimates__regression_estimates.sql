with

source as (

    select * from {{ source('estimates', 'regression_estimates') }}

),

final as (

    select
        specification,
        term,
        language,
        reference_language,
        condition,
        extractor,
        encoder,
        field,
        variant,
        estimate,
        std_error,
        ci_low,
        ci_high,
        ci_excludes_zero,
        n_turns,
        n_motions,
        n_resamples,
        seed,
        dropped_columns,
        singular,
        interval_status,
        interval_note,

    from source

)

select * from final
