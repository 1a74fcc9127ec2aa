with

study as (

    select * from {{ ref('study') }}

),

motion_sets as (

    select * from {{ ref('motion_sets') }}

),

motion_contrasts as (

    select * from {{ ref('motion_contrasts') }}

),

-- The plain measure of all agents together: what the paper estimates on subsets. A set for a language also holds the
-- condition effects of the reference language, over the same motions.
final as (

    select
        motion_sets.motion_set,

        motion_contrasts.contrast,
        motion_contrasts.language,
        motion_contrasts.reference_language,
        motion_contrasts.condition,
        motion_contrasts.reference_condition,
        motion_contrasts.agent,
        motion_contrasts.reference_agent,
        motion_contrasts.extractor,
        motion_contrasts.encoder,
        motion_contrasts.field,
        motion_contrasts.variant,
        motion_contrasts.aggregate,

        motion_contrasts.motion_id,

        motion_contrasts.difference,

    from motion_contrasts
    cross join study
    join motion_sets
        on motion_sets.motion_id = motion_contrasts.motion_id
        and (
            motion_sets.language is null or motion_contrasts.language in (motion_sets.language, study.reference_language)
        )
    where motion_contrasts.variant = 'raw'
        and motion_contrasts.agent is null

)

select * from final
