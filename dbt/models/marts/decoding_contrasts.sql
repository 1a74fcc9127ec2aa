with

study as (

    select * from {{ ref('study') }}

),

sessions as (

    select * from {{ ref('sessions') }}

),

turn_similarity as (

    select * from {{ ref('turn_similarity') }}

),

continuations as (

    select
        session_id,
        motion_id,
        language,
        condition,
        repeat,
        {{ decoding_part('condition', 'agent') }} as agent,
        {{ decoding_part('condition', 'parameter') }} as parameter,
        {{ decoding_part('condition', 'value') }}::double as setting,

    from sessions
    where in_analysis and {{ decoding_part('condition', 'agent') }} <> ''

),

-- Only the last turn of a continuation was generated under its setting; the turns before it are its context.
last_turns as (

    select
        continuations.*,
        turn_similarity.turn_index,
        turn_similarity.extractor,
        turn_similarity.encoder,
        turn_similarity.field,
        turn_similarity.mean_arg_max_prev as similarity,

    from continuations
    join turn_similarity on turn_similarity.session_id = continuations.session_id
    where turn_similarity.variant = 'raw'
    qualify turn_similarity.turn_index = max(turn_similarity.turn_index) over (partition by continuations.session_id)

),

-- Continuations of one context: the same motion, language, repeat and turn, whatever the setting.
cells as (

    select
        * exclude (session_id, similarity),
        avg(similarity order by session_id) as similarity,

    from last_turns
    where similarity is not null
    group by all

),

-- The highest value is the reference: at 1 a parameter changes nothing about what the model would say.
setting_differences as (

    select
        'decoding_effect' as contrast,
        cells.* exclude (similarity, parameter, setting),
        reference.condition as reference_condition,
        cells.similarity - reference.similarity as difference,

    from cells
    join cells as reference
        on reference.motion_id = cells.motion_id
        and reference.language = cells.language
        and reference.repeat is not distinct from cells.repeat
        and reference.turn_index = cells.turn_index
        and reference.agent = cells.agent
        and reference.parameter = cells.parameter
        and reference.extractor = cells.extractor
        and reference.encoder = cells.encoder
        and reference.field = cells.field
    where reference.setting = (select max(setting) from cells as others where others.parameter = cells.parameter)
        and cells.setting < reference.setting

),

language_differences as (

    select
        'language_gap' as contrast,
        cells.* exclude (similarity, parameter, setting),
        reference.language as reference_language,
        cells.similarity - reference.similarity as difference,

    from cells
    cross join study
    join cells as reference
        on reference.motion_id = cells.motion_id
        and reference.language = study.reference_language
        and reference.condition = cells.condition
        and reference.repeat is not distinct from cells.repeat
        and reference.turn_index = cells.turn_index
        and reference.extractor = cells.extractor
        and reference.encoder = cells.encoder
        and reference.field = cells.field
    where cells.language <> study.reference_language

),

differences as (

    select * from setting_differences
    union all by name
    select * from language_differences

),

final as (

    select
        contrast,
        language,
        reference_language,
        condition,
        reference_condition,
        agent,
        null::varchar as reference_agent,
        extractor,
        encoder,
        field,
        'raw' as variant,
        'turn_mean' as aggregate,

        motion_id,

        avg(difference order by repeat, turn_index) as difference,

    from differences
    group by all

)

select * from final
