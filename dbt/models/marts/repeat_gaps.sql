with

study as (

    select * from {{ ref('study') }}

),

session_similarity as (

    select * from {{ ref('session_similarity') }}

),

cells as (

    select
        motion_id,
        language,
        condition,
        repeat,
        extractor,
        encoder,
        field,
        avg(agent_mean order by session_id) as similarity,

    from session_similarity
    where variant = 'raw' and agent_mean is not null
    group by all

),

-- Repeats are paired by their number. A motion without a second pair cannot move, so it has no row.
gaps as (

    select
        cells.* exclude (similarity),
        study.reference_language,
        cells.similarity - reference.similarity as gap,

    from cells
    cross join study
    join cells as reference
        on reference.motion_id = cells.motion_id
        and reference.language = study.reference_language
        and reference.condition = cells.condition
        and reference.repeat = cells.repeat
        and reference.extractor = cells.extractor
        and reference.encoder = cells.encoder
        and reference.field = cells.field
    where cells.language <> study.reference_language
    qualify count(*) over (
        partition by cells.motion_id, cells.language, cells.condition, cells.extractor, cells.encoder, cells.field
    ) > 1

),

averaged as (

    select
        *,
        first_value(gap) over motion_repeats as first_gap,
        avg(gap) over (motion_repeats rows between unbounded preceding and unbounded following) as mean_gap,

    from gaps
    window
        motion_repeats as (
            partition by motion_id, language, condition, extractor, encoder, field order by repeat
        )

),

ranked as (

    select
        *,
        rank() over (other_motions order by gap desc) as gap_rank,
        rank() over (other_motions order by first_gap desc) as first_rank,
        rank() over (other_motions order by mean_gap desc) as mean_rank,

    from averaged
    window other_motions as (partition by language, condition, extractor, encoder, field, repeat)

),

final as (

    select
        motion_id,
        language,
        reference_language,
        condition,
        repeat,

        extractor,
        encoder,
        field,

        gap,
        first_gap,
        mean_gap,
        gap_rank,
        first_rank,
        mean_rank,
        sign(first_gap) <> sign(mean_gap) as changes_sign,

    from ranked

)

select * from final
