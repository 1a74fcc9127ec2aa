with

source as (

    select * from {{ source('estimates', 'encoder_agreement') }}

),

final as (

    select
        language,
        condition,
        extractor,
        field,
        encoder,
        reference_encoder,
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
