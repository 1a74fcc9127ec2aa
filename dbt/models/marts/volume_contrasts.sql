with

study as (

    select * from {{ ref('study') }}

),

sessions as (

    select * from {{ ref('sessions') }}

),

turns as (

    select * from {{ ref('turns') }}

),

outcomes as (

    select * from {{ ref('int_extraction_outcomes') }}

),

said as (

    select
        turns.session_id,
        turns.sentence_count::double as sentence_count,
        turns.text_length::double as text_length,
        turns.output_tokens::double as output_tokens,

    from turns

),

amounts as (

    select
        session_id,
        measure,
        null::varchar as extractor,
        amount,

    from (unpivot said on sentence_count, text_length, output_tokens into name measure value amount)

    union all by name

    select
        session_id,
        'n_arguments' as measure,
        extractor,
        n_arguments::double as amount,

    from outcomes
    where n_arguments is not null

),

-- Turns are averaged to sessions and sessions to motions, so that a motion weighs the same however often it was debated.
session_means as (

    select
        sessions.motion_id,
        sessions.language,
        sessions.condition,
        sessions.session_id,
        amounts.measure,
        amounts.extractor,
        avg(amounts.amount) as amount,

    from amounts
    join sessions on sessions.session_id = amounts.session_id
    where sessions.in_analysis
    group by all

),

cells as (

    select
        motion_id,
        language,
        condition,
        measure,
        extractor,
        avg(amount order by session_id) as amount,

    from session_means
    group by all

),

final as (

    select
        cells.measure,
        cells.language,
        cells.condition,
        baseline.condition as reference_condition,
        cells.extractor,

        cells.motion_id,

        cells.amount,
        baseline.amount as reference_amount,
        cells.amount - baseline.amount as difference,

    from cells
    cross join study
    join cells as baseline
        on baseline.motion_id = cells.motion_id
        and baseline.language = cells.language
        and baseline.condition = study.baseline_condition
        and baseline.measure = cells.measure
        and baseline.extractor is not distinct from cells.extractor
    where cells.condition <> study.baseline_condition

)

select * from final
