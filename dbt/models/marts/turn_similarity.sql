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

-- Summed in the order of the arguments, so that the mean is the same to the last bit in every build.
turn_means as (

    select
        session_id,
        turn_index,
        extractor,
        encoder,
        field,
        'raw' as variant,
        avg(similarity order by argument_id) as mean_arg_max_prev,

    from max_prior_pairs
    group by all

),

-- Every turn of a session is present, also one that has no value. Turn 1 has no earlier turn whatever its extraction
-- gave, so that reason comes first; then what the turn itself lacks, then what came before it.
final as (

    select
        outcomes.session_id,

        outcomes.motion_id,
        outcomes.language,
        outcomes.condition,
        outcomes.repeat,

        outcomes.turn_index,
        outcomes.phase,
        outcomes.role,
        outcomes.side,
        outcomes.agent,

        outcomes.extractor,
        measures.encoder,
        measures.field,
        'raw' as variant,

        turn_means.mean_arg_max_prev,
        outcomes.n_arguments,
        outcomes.prior_pool_size,
        case
            when outcomes.turn_index = 1 then 'first_turn'
            when outcomes.extraction_status <> 'parsed' then outcomes.extraction_status
            when outcomes.prior_pool_size = 0 then 'empty_prior_pool'
        end as null_reason,

    from outcomes
    cross join measures
    left join turn_means
        on turn_means.session_id = outcomes.session_id
        and turn_means.turn_index = outcomes.turn_index
        and turn_means.extractor = outcomes.extractor
        and turn_means.encoder = measures.encoder
        and turn_means.field = measures.field

)

select * from final
