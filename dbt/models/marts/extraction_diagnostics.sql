with

study as (

    select * from {{ ref('study') }}

),

motion_sets as (

    select * from {{ ref('motion_sets') }}

),

sessions as (

    select * from {{ ref('sessions') }}

),

outcomes as (

    select * from {{ ref('int_extraction_outcomes') }}

),

extraction_parses as (

    select * from {{ ref('stg_argument_units__extraction_parses') }}

),

arguments as (

    select * from {{ ref('arguments') }}

),

argument_types as (

    select * from {{ ref('stg_study__argument_types') }}

),

-- The prompt also offers `unclear`, which is no type but a label of its schema.
labels as (

    select argument_type as label from argument_types
    union
    select 'unclear' as label

),

argument_totals as (

    select
        arguments.session_id,
        arguments.turn_index,
        arguments.extractor,
        count(*) as n_arguments,
        sum(length(arguments.claim)) as claim_characters,
        count(*) filter (where arguments.warrant = '') as n_empty_warrants,
        count(*) filter (where arguments.evidence_or_example = '') as n_empty_evidence,
        count(*) filter (where {{ argument_label('arguments.argument_type_raw') }} = '') as n_without_type,
        count(*) filter (
            where {{ argument_label('arguments.argument_type_raw') }} <> '' and labels.label is null
        ) as n_off_schema,

    from arguments
    left join labels on labels.label = {{ argument_label('arguments.argument_type_raw') }}
    group by all

),

extracted as (

    select
        motion_sets.motion_set,
        outcomes.language,
        outcomes.condition,
        outcomes.extractor,
        outcomes.motion_id,
        outcomes.extraction_status,
        extraction_parses.n_blank_claims,
        list_contains(extraction_parses.labels, 'too_many_units') as has_too_many_units,
        argument_totals.* exclude (session_id, turn_index, extractor),

    from outcomes
    cross join study
    join sessions on sessions.session_id = outcomes.session_id
    join motion_sets
        on motion_sets.motion_id = outcomes.motion_id
        and (motion_sets.language is null or outcomes.language in (motion_sets.language, study.reference_language))
    left join extraction_parses
        on extraction_parses.session_id = outcomes.session_id
        and extraction_parses.turn_index = outcomes.turn_index
        and extraction_parses.extractor = outcomes.extractor
    left join argument_totals
        on argument_totals.session_id = outcomes.session_id
        and argument_totals.turn_index = outcomes.turn_index
        and argument_totals.extractor = outcomes.extractor
    where sessions.in_analysis

),

final as (

    select
        motion_set,
        language,
        condition,
        extractor,

        count(distinct motion_id) as n_motions,
        count(*) as n_turns,
        count(*) filter (where extraction_status = 'parsed') as n_parsed,
        count(*) filter (where extraction_status = 'extraction_failed') as n_failed,
        count(*) filter (where extraction_status = 'extraction_missing') as n_missing,
        count(*) filter (where extraction_status = 'extraction_failed')
        / nullif(count(*) filter (where extraction_status <> 'extraction_missing'), 0) as failure_rate,

        coalesce(sum(n_arguments), 0)::bigint as n_arguments,
        coalesce(sum(n_arguments), 0)
        / nullif(count(*) filter (where extraction_status = 'parsed'), 0) as mean_arguments,
        sum(claim_characters) / nullif(sum(n_arguments), 0) as mean_claim_characters,
        sum(n_empty_warrants) / nullif(sum(n_arguments), 0) as empty_warrant_rate,
        sum(n_empty_evidence) / nullif(sum(n_arguments), 0) as empty_evidence_rate,
        sum(n_off_schema) / nullif(sum(n_arguments), 0) as off_schema_rate,
        sum(n_without_type) / nullif(sum(n_arguments), 0) as without_type_rate,
        count(*) filter (where has_too_many_units) as n_too_many_units,
        coalesce(sum(n_blank_claims), 0)::bigint as n_blank_claims,

        case when sum(n_arguments) is null then 'The extractor gave no argument here.' end as note,

    from extracted
    group by all

)

select * from final
