with

motion_contrasts as (

    select * from {{ ref('motion_contrasts') }}

),

final as (

    select
        motion_id,
        language,
        reference_language,
        condition,

        extractor,
        encoder,
        field,
        variant,

        max(difference) filter (where aggregate = 'agent_mean') as gap,
        max(difference) filter (where aggregate = 'turn_mean') as gap_turn_mean,

    from motion_contrasts
    where contrast = 'language_gap'
    group by all

)

select * from final
