with

arguments as (

    select * from {{ ref('stg_argument_units__arguments') }}

),

argument_types as (

    select * from {{ ref('stg_study__argument_types') }}

),

turns as (

    select * from {{ ref('int_turns') }}

),

-- Only an exact bucket counts: a compound label ("historical|economic") names no single one and goes to other [D.3].
final as (

    select
        arguments.argument_id,
        arguments.extractor,

        arguments.session_id,
        arguments.turn_index,
        arguments.argument_index,

        arguments.claim,
        arguments.warrant,
        arguments.evidence_or_example,
        coalesce(argument_types.argument_type, 'other') as argument_type,
        arguments.argument_type_raw,

        turns.motion_id,
        turns.language,
        turns.condition,
        turns.repeat,

        turns.phase,
        turns.role,
        turns.side,
        turns.agent,

    from arguments
    join turns
        on turns.session_id = arguments.session_id
        and turns.turn_index = arguments.turn_index
    left join argument_types
        on argument_types.argument_type = {{ argument_label('arguments.argument_type_raw') }}

)

select * from final
