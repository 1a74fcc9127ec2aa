with

source as (

    select * from {{ source('estimates', 'translation_estimates') }}

),

final as (

    select
        contrast,
        language,
        reference_language,
        condition,
        reference_condition,
        agent,
        reference_agent,
        extractor,
        encoder,
        field,
        variant,
        aggregate,

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
