with

study as (

    select * from {{ ref('study') }}

),

adjudicated_labels as (

    select * from {{ ref('adjudicated_labels') }} where in_analysis

),

max_prior_pairs as (

    select * from {{ ref('max_prior_pairs') }}

),

sessions as (

    select * from {{ ref('int_sessions') }} where in_analysis

),

-- The languages of the audit: what people did not label cannot be calibrated.
audited as (

    select distinct adjudicated_labels.language
    from adjudicated_labels
    join study on study.baseline_condition = adjudicated_labels.condition

),

-- The population: every baseline pair of these languages, of the extractor whose arguments people read.
population as (

    select
        pairs.argument_id,
        pairs.nearest_argument_id,
        pairs.extractor,
        pairs.encoder,
        pairs.field,
        pairs.motion_id,
        pairs.language,
        pairs.condition,
        pairs.similarity,

    from max_prior_pairs as pairs
    join sessions on sessions.session_id = pairs.session_id
    join study
        on study.primary_extractor = pairs.extractor
        and study.baseline_condition = pairs.condition
    join audited on audited.language = pairs.language
    where pairs.similarity is not null

),

-- Quintiles of the pooled population, the strata of the audit. A similarity on an edge belongs to the bin below it.
edges as (

    select
        extractor,
        encoder,
        field,
        quantile_cont(similarity, [0.2, 0.4, 0.6, 0.8]) as edges,

    from population
    group by all

),

final as (

    select
        population.argument_id,
        population.extractor,
        population.encoder,
        population.field,

        population.nearest_argument_id,
        population.motion_id,
        population.language,
        population.condition,

        population.similarity,
        (1 + len(list_filter(edges.edges, lambda edge: population.similarity > edge)))::integer as bin,
        edges.edges[bin - 1] as bin_low,
        edges.edges[bin] as bin_high,

        adjudicated_labels.label,

    from population
    join edges
        on edges.extractor = population.extractor
        and edges.encoder = population.encoder
        and edges.field = population.field
    left join adjudicated_labels
        on adjudicated_labels.argument_id = population.argument_id
        and adjudicated_labels.nearest_argument_id = population.nearest_argument_id

)

select * from final
