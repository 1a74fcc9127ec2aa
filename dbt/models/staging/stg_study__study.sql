with

source as (

    select * from {{ source('study', 'study') }}

),

final as (

    select
        name,
        archive,

        reference_language,
        baseline_condition,
        languages,
        conditions,
        motions,
        extractors,
        agents,
        encoders,
        fields,
        scorers,

        groupings,
        cluster,
        protocol,
        incomplete_sessions,
        rejects,

        n_resamples,
        seed,
        confidence,
        min_clusters,

    from source

)

select * from final
