with

study as (

    select * from {{ ref('study') }}

),

sessions as (

    select * from {{ ref('sessions') }}

),

session_similarity as (

    select * from {{ ref('session_similarity') }}

),

-- One column of values whatever the aggregate.
session_values as (

    {% for aggregate in ['agent_mean', 'turn_mean'] %}
    select
        session_similarity.* exclude (agent_mean, turn_mean),
        '{{ aggregate }}' as aggregate,
        session_similarity.{{ aggregate }} as similarity,

    from session_similarity
    {{ 'union all by name' if not loop.last }}
    {% endfor %}

),

-- Repeats are averaged first, as in every contrast.
cells as (

    select
        session_values.motion_id,
        session_values.language,
        session_values.condition,
        session_values.extractor,
        session_values.encoder,
        session_values.field,
        session_values.variant,
        session_values.aggregate,
        avg(session_values.similarity order by session_values.session_id) as similarity,

    from session_values
    semi join sessions
        on sessions.session_id = session_values.session_id
        and sessions.in_analysis
    where session_values.similarity is not null
    group by all

),

-- What was translated, and out of which language: the text itself is in the reference language.
translated as (

    select
        cells.*,
        {{ translation_part('cells.condition', 'condition') }} as native_condition,
        {{ translation_part('cells.condition', 'language') }} as foreign_language,

    from cells
    join study on study.reference_language = cells.language
    where {{ translation_part('cells.condition', 'kind') }} = 'translated from'

),

-- A motion counts when all four of its debates are there, so that the four contrasts are about the same motions and
-- add up.
arms as (

    select
        translated.* exclude (language, condition, similarity),
        translated.language as reference_language,
        translated.condition as translated_condition,
        round_trip.condition as round_trip_condition,
        translated.similarity as translated,
        round_trip.similarity as round_trip,
        native.similarity as native,
        foreign_native.similarity as foreign_native,

    from translated
    {% for arm, condition, language in [
        ('round_trip', "translated.native_condition || ' round trip through ' || translated.foreign_language",
            'translated.language'),
        ('native', 'translated.native_condition', 'translated.language'),
        ('foreign_native', 'translated.native_condition', 'translated.foreign_language'),
    ] %}
    join cells as {{ arm }}
        on {{ arm }}.motion_id = translated.motion_id
        and {{ arm }}.condition = {{ condition }}
        and {{ arm }}.language = {{ language }}
        and {{ arm }}.extractor = translated.extractor
        and {{ arm }}.encoder = translated.encoder
        and {{ arm }}.field = translated.field
        and {{ arm }}.variant = translated.variant
        and {{ arm }}.aggregate = translated.aggregate
    {% endfor %}

),

contrasts as (

    select
        'native_gap' as contrast,
        *,
        native_condition as condition,
        null::varchar as reference_condition,
        foreign_native - native as difference,

    from arms

    union all by name

    select
        'translated_gap' as contrast,
        *,
        translated_condition as condition,
        native_condition as reference_condition,
        translated - native as difference,

    from arms

    union all by name

    select
        'translated_round_trip_gap' as contrast,
        *,
        translated_condition as condition,
        round_trip_condition as reference_condition,
        translated - round_trip as difference,

    from arms

    union all by name

    select
        'round_trip_effect' as contrast,
        *,
        round_trip_condition as condition,
        native_condition as reference_condition,
        round_trip - native as difference,

    from arms

),

final as (

    select
        contrast,
        foreign_language as language,
        reference_language,
        condition,
        reference_condition,
        null::varchar as agent,
        null::varchar as reference_agent,
        extractor,
        encoder,
        field,
        variant,
        aggregate,

        motion_id,

        difference,

    from contrasts

)

select * from final
