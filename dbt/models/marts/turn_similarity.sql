with

study as (

    select * from {{ ref('stg_study__study') }}

),

outcomes as (

    select * from {{ ref('int_extraction_outcomes') }}

),

max_prior_pairs as (

    select * from {{ ref('max_prior_pairs') }}

),

measures as (

    select
        unnest(study.encoders) as encoder,
        fields.field,

    from study
    cross join (select unnest(fields) as field from study) as fields

),

null_distribution as (

    select * from {{ ref('null_distribution') }}

),

-- Summed in the order of the arguments, so that the mean is the same to the last bit in every build. Arguments of one
-- turn share their prior pool, so a variant that needs a larger one lacks it for all of them.
turn_means as (

    select
        session_id,
        turn_index,
        extractor,
        encoder,
        field,
        avg(similarity order by argument_id) as raw,
        avg(fixed_k5 order by argument_id) as fixed_k5,
        avg(fixed_k10 order by argument_id) as fixed_k10,

    from max_prior_pairs
    group by all

),

-- Every turn of a session is present, also one that has no value.
measured as (

    select
        outcomes.*,
        measures.encoder,
        measures.field,
        turn_means.raw,
        turn_means.fixed_k5,
        turn_means.fixed_k10,
        null_distribution.null_mean,
        -- The spread of equal draws is their rounding, and dividing by it would make noise a score.
        if(null_distribution.null_sd > 1e-9, null_distribution.null_sd, null) as null_sd,

        -- Turn 1 has no earlier turn whatever its extraction gave, so that reason comes first; then what the turn itself
        -- lacks, then what came before it.
        case
            when outcomes.turn_index = 1 then 'first_turn'
            when outcomes.extraction_status <> 'parsed' then outcomes.extraction_status
            when outcomes.prior_pool_size = 0 then 'empty_prior_pool'
        end as raw_null_reason,

    from outcomes
    cross join measures
    left join turn_means
        on turn_means.session_id = outcomes.session_id
        and turn_means.turn_index = outcomes.turn_index
        and turn_means.extractor = outcomes.extractor
        and turn_means.encoder = measures.encoder
        and turn_means.field = measures.field
    left join null_distribution
        on null_distribution.language = outcomes.language
        and null_distribution.condition = outcomes.condition
        and null_distribution.extractor = outcomes.extractor
        and null_distribution.encoder = measures.encoder
        and null_distribution.field = measures.field
        and null_distribution.turn_index = outcomes.turn_index

),

-- The null is the same for all arguments of a turn: adjusting their mean is adjusting each and averaging.
variants as (

    select
        *,
        'raw' as variant,
        raw as value,
        null::varchar as variant_null_reason,

    from measured

    union all by name

    select
        *,
        'null_adjusted' as variant,
        raw - null_mean as value,
        if(null_mean is null, 'no_null_distribution', null) as variant_null_reason,

    from measured

    union all by name

    select
        *,
        'z_scored' as variant,
        (raw - null_mean) / null_sd as value,
        case
            when null_mean is null then 'no_null_distribution'
            when null_sd is null then 'null_without_spread'
        end as variant_null_reason,

    from measured

    union all by name

    select
        *,
        'fixed_k5' as variant,
        fixed_k5 as value,
        if(prior_pool_size < 5, 'prior_pool_too_small', null) as variant_null_reason,

    from measured

    union all by name

    select
        *,
        'fixed_k10' as variant,
        fixed_k10 as value,
        if(prior_pool_size < 10, 'prior_pool_too_small', null) as variant_null_reason,

    from measured

),

final as (

    select
        session_id,

        motion_id,
        language,
        condition,
        repeat,

        turn_index,
        phase,
        role,
        side,
        agent,

        extractor,
        encoder,
        field,
        variant,

        value as mean_arg_max_prev,
        n_arguments,
        prior_pool_size,
        coalesce(raw_null_reason, variant_null_reason) as null_reason,

    from variants

)

select * from final
