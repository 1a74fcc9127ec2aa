-- Every argument has a pair for each encoder and field of the study.
-- Why: a missing pair would leave its argument out of the turn's mean without a trace.
-- Returns: arguments with the encoder and field they lack.

with

arguments as (

    select * from {{ ref('arguments') }}

),

study as (

    select * from {{ ref('study') }}

),

expected as (

    select
        arguments.argument_id,
        arguments.extractor,
        encoders.encoder,
        fields.field,

    from arguments
    cross join (select unnest(encoders) as encoder from study) as encoders
    cross join (select unnest(fields) as field from study) as fields

)

select expected.*
from expected
anti join {{ ref('max_prior_pairs') }} as pairs using (argument_id, extractor, encoder, field)
