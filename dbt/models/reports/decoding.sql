with

study as (

    select * from {{ ref('study') }}

),

decoding_estimates as (

    select * from {{ ref('decoding_estimates') }}

),

published_labels as (

    select * from {{ ref('published_labels') }}

),

settings as (

    select
        agents.agent,
        settings.parameter,
        settings.setting,

    from (values ('deepseek'), ('mistral')) as agents (agent)
    cross join (
        values
        ('temperature', 0.2::double), ('temperature', 0.7), ('temperature', 1.0),
        ('top_p', 0.7), ('top_p', 0.85), ('top_p', 0.95), ('top_p', 1.0)
    ) as settings (parameter, setting)

),

estimated as (

    select
        decoding_estimates.*,
        {{ decoding_part('decoding_estimates.condition', 'parameter') }} as parameter,
        {{ decoding_part('decoding_estimates.condition', 'value') }}::double as setting,

    from decoding_estimates
    join study on study.primary_extractor = decoding_estimates.extractor
    where decoding_estimates.field = 'claim'

),

paired as (

    select
        coalesce(estimated.agent, settings.agent) as agent,
        coalesce(estimated.parameter, settings.parameter) as parameter,
        coalesce(estimated.setting, settings.setting) as setting,
        estimated.contrast,
        estimated.language,
        estimated.reference_condition,
        estimated.encoder,

        {% for column in estimate_columns() %}
        estimated.{{ column }},
        {% endfor %}

        -- The paper prints no table, only that no setting moves an agent's similarity by more than this.
        case when estimated.contrast = 'decoding_effect' then 'at most 0.02' end as published_value,
        case
            when estimated.agent is null
                then 'Needs continuations of this agent under this setting: a phase of kind decoding, archived by '
                    || 'itself and read with incomplete_sessions: include.'
        end as missing,

    from estimated
    full join settings
        on settings.agent = estimated.agent
        and settings.parameter = estimated.parameter
        and settings.setting = estimated.setting

),

final as (

    {{ in_published_order(['agent', 'parameter', 'setting', 'contrast', 'language', 'encoder']) }}

)

select * from final
