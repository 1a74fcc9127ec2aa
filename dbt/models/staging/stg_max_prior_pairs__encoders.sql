with

source as (

    select * from {{ source('max_prior_pairs', 'encoders') }}

),

final as (

    select
        encoder,

        encoder_key,
        backend,
        model,
        revision,
        resolved_revision,
        prefix,
        dtype,
        batch_size,
        max_length,
        normalize,
        dimension,
        device,
        library_versions,

        n_texts,
        n_over_max_length,

    from source

)

select * from final
