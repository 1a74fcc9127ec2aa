-- A table: counting sentences is the costliest expression of the project, and several marts read it.
{{ config(materialized='table') }}

with

languages as (

    select * from {{ ref('stg_study__languages') }}

),

-- Debates of another protocol have neither its places nor its expectations.
turn_template as (

    select turn_template.*
    from {{ ref('stg_study__turn_template') }} as turn_template
    join {{ ref('stg_study__study') }} as study on study.protocol = 'template'

),

sessions as (

    select * from {{ ref('int_sessions') }}

),

extractors as (

    select * from {{ ref('int_extractors') }}

),

turns as (

    select * from {{ ref('stg_archive__turns') }}

),

extraction_parses as (

    select * from {{ ref('stg_argument_units__extraction_parses') }}

),

phases as (

    select distinct
        phase,
        expected_sentences,

    from turn_template

),

roles as (

    select distinct
        role,
        side,

    from turn_template

),

primary_parses as (

    select
        extraction_parses.session_id,
        extraction_parses.turn_index,
        extraction_parses.n_arguments,

    from extraction_parses
    join extractors on extractors.extractor = extraction_parses.extractor
    where extractors.is_primary
        and extraction_parses.parsed

),

-- What a turn's record does not say follows from its place in the session.
placed as (

    select
        turns.* exclude (language, phase, role, side),
        sessions.motion_id,
        sessions.language,
        sessions.condition,
        sessions.repeat,
        sessions.role_mapping,
        sessions.agents,
        coalesce(turns.phase, turn_template.phase) as phase,
        coalesce(turns.role, turn_template.role) as role,
        -- A role is always on one side; a place in the session says so only of the template's roles.
        coalesce(turns.side, roles.side) as side,

    from turns
    join sessions on sessions.session_id = turns.session_id
    left join turn_template on turn_template.turn_index = turns.turn_index
    left join roles on roles.role = coalesce(turns.role, turn_template.role)

),

spoken as (

    select
        * exclude (agent),
        coalesce(nullif(trim(agent), ''), role_mapping[role]) as agent,

    from placed

),

final as (

    select
        spoken.session_id,
        spoken.turn_index,

        spoken.motion_id,
        spoken.language,
        spoken.condition,
        spoken.repeat,

        spoken.phase,
        spoken.role,
        spoken.side,
        spoken.agent,
        coalesce(spoken.model_id, spoken.agents[spoken.agent]) as model_id,

        spoken.text,
        {{ sentence_count('spoken.text', 'languages.sentence_terminators') }} as sentence_count,
        phases.expected_sentences,
        {{ text_length('spoken.text', 'languages.length_unit') }} as text_length,
        languages.length_unit,

        primary_parses.n_arguments,

        spoken.finish_reason,
        spoken.input_tokens,
        spoken.output_tokens,

    from spoken
    left join languages on languages.language = spoken.language
    left join phases on phases.phase = spoken.phase
    left join primary_parses
        on primary_parses.session_id = spoken.session_id
        and primary_parses.turn_index = spoken.turn_index

)

select * from final
