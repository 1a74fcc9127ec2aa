with

study as (

    select * from {{ ref('study') }}

),

adjudicated_labels as (

    select * from {{ ref('adjudicated_labels') }} where in_analysis

),

encoders as (

    select * from {{ ref('encoders') }}

),

pair_scores as (

    select * from {{ ref('pair_scores') }}

),

pair_judgments as (

    select * from {{ ref('pair_judgments') }} where label is not null

),

-- Labels name arguments by id, and ids belong to an extractor: people read the primary one's.
scored as (

    select
        if(encoders.encoder is null, 'scorer', 'encoder') as instrument_kind,
        pair_scores.scorer as instrument,
        pair_scores.field,
        pair_scores.argument_id,
        pair_scores.nearest_argument_id,
        pair_scores.score as value,

    from pair_scores
    join study on study.primary_extractor = pair_scores.extractor
    left join encoders on encoders.encoder = pair_scores.scorer

),

judged as (

    select
        'judge' as instrument_kind,
        judge as instrument,
        'claim' as field,
        argument_id,
        nearest_argument_id,
        label::double as value,

    from pair_judgments
    where round = 1

),

instruments as (

    select * from scored
    union all
    select * from judged

),

final as (

    select
        instruments.argument_id,
        instruments.nearest_argument_id,
        instruments.instrument_kind,
        instruments.instrument,
        instruments.field,

        adjudicated_labels.motion_id,
        adjudicated_labels.language,

        instruments.value,
        adjudicated_labels.label,

    from instruments
    join adjudicated_labels
        on adjudicated_labels.argument_id = instruments.argument_id
        and adjudicated_labels.nearest_argument_id = instruments.nearest_argument_id

)

select * from final
