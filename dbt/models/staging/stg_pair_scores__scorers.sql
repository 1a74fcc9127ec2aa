with

source as (

    select * from {{ source('pair_scores', 'scorers') }}

),

final as (

    select
        scorer,
        backend,
        model,
        revision,
        resolved_revision,
        max_length,
        batch_size,
        device,
        library_versions,

    from source

)

select * from final
