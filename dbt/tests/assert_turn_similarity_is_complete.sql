-- Every turn has a row for each extractor that answered in its session (else the primary one), encoder and field.
-- Why: a turn that drops out silently changes every mean above it.
-- Returns: combinations that are expected and absent, or present and unexpected.

with

turns as (

    select * from {{ ref('turns') }}

),

study as (

    select * from {{ ref('study') }}

),

extraction_parses as (

    select * from {{ ref('stg_argument_units__extraction_parses') }}

),

expected as (

    select
        turns.session_id,
        turns.turn_index,
        coalesce(answered.extractor, (select primary_extractor from study)) as extractor,
        encoders.encoder,
        fields.field,

    from turns
    left join (select distinct session_id, extractor from extraction_parses) as answered
        on answered.session_id = turns.session_id
    cross join (select unnest(encoders) as encoder from study) as encoders
    cross join (select unnest(fields) as field from study) as fields

),

actual as (

    select
        session_id,
        turn_index,
        extractor,
        encoder,
        field,

    from {{ ref('turn_similarity') }}
    where variant = 'raw'

)

select 'absent' as fault, * from (from expected except from actual)
union all
select 'unexpected' as fault, * from (from actual except from expected)
