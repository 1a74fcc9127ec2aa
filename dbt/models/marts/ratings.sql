with

annotations as (

    select * from {{ ref('stg_archive__annotations') }} where coalesce(round, 1) = 1

),

adjudicated_labels as (

    select * from {{ ref('adjudicated_labels') }} where in_analysis

),

pair_judgments as (

    select * from {{ ref('pair_judgments') }} where label is not null

),

outcome_scores as (

    select * from {{ ref('outcome_scores') }} where score is not null

),

sessions as (

    select * from {{ ref('int_sessions') }}

),

-- Two annotators on one pair, before anything is settled.
repetition as (

    select
        'annotators' as comparison,
        null::varchar as judge,
        'label' as dimension,
        argument_id || ' ' || nearest_argument_id as item,
        {{ session_of_argument('argument_id') }} as session_id,
        annotator as rater,
        label as rating,

    from annotations
    where task = 'repetition'

),

{% set audit = ['all_major_captured', 'over_split', 'under_split', 'hallucination', 'missing_major'] -%}

extraction as (

    select
        'annotators' as comparison,
        null::varchar as judge,
        'quality' as dimension,
        session_id || '/' || turn_index as item,
        session_id,
        annotator as rater,
        quality as rating,

    from annotations
    where task = 'extraction' and quality is not null

    {% for dimension in audit %}
    union all

    select
        'annotators' as comparison,
        null::varchar as judge,
        '{{ dimension }}' as dimension,
        session_id || '/' || turn_index as item,
        session_id,
        annotator as rater,
        {{ dimension }}::integer as rating,

    from annotations
    where task = 'extraction' and {{ dimension }} is not null
    {% endfor %}

),

-- The people's settled label against the judge's, on the pairs that have both.
judged as (

    select
        'judge_and_people' as comparison,
        pair_judgments.judge,
        'label' as dimension,
        pair_judgments.argument_id || ' ' || pair_judgments.nearest_argument_id as item,
        pair_judgments.session_id,
        unnest(['people', 'judge']) as rater,
        unnest([adjudicated_labels.label, pair_judgments.label]) as rating,

    from pair_judgments
    join adjudicated_labels
        on adjudicated_labels.argument_id = pair_judgments.argument_id
        and adjudicated_labels.nearest_argument_id = pair_judgments.nearest_argument_id
    where pair_judgments.round = 1

),

pair_retests as (

    select
        'retest' as comparison,
        judge,
        'label' as dimension,
        argument_id || ' ' || nearest_argument_id as item,
        session_id,
        'round ' || round as rater,
        label as rating,

    from pair_judgments
    qualify count(*) over (partition by judge, argument_id, nearest_argument_id) > 1

),

outcome_retests as (

    select
        'retest' as comparison,
        judge,
        dimension,
        session_id as item,
        session_id,
        'round ' || round as rater,
        score as rating,

    from outcome_scores
    qualify count(*) over (partition by judge, session_id, dimension) > 1

),

delivered as (

    select * from repetition
    union all
    select * from extraction
    union all
    select * from judged
    union all
    select * from pair_retests
    union all
    select * from outcome_retests

),

-- The two collapses of a label are ratings of their own: repeated is {2, 3}, strict is {3}.
collapsed as (

    select * from delivered
    union all
    select * replace ('repeated' as dimension, (rating >= 2)::integer as rating) from delivered where dimension = 'label'
    union all
    select * replace ('strict' as dimension, (rating = 3)::integer as rating) from delivered where dimension = 'label'

),

final as (

    select
        collapsed.comparison,
        collapsed.judge,
        collapsed.dimension,
        collapsed.item,
        collapsed.rater,

        sessions.motion_id,
        sessions.language,

        if(
            collapsed.dimension in ('repeated', 'strict', '{{ audit | join("', '") }}'), 'binary', 'ordinal'
        ) as scale,
        collapsed.rating,

    from collapsed
    join sessions on sessions.session_id = collapsed.session_id
    where sessions.in_analysis

)

select * from final
