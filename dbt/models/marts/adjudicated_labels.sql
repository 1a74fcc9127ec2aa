with

annotations as (

    select * from {{ ref('stg_archive__annotations') }} where task = 'repetition'

),

sessions as (

    select * from {{ ref('int_sessions') }}

),

-- Round 1 holds the blind labels; a later round of a pair settles it.
rounds as (

    select
        argument_id,
        nearest_argument_id,
        coalesce(round, 1) as round,
        -- The lower middle label: with two annotators who disagree, a pair is repeated when both say so.
        list_sort(list(label))[(count(label) + 1) // 2] as label,
        count(*) as n_labels,
        min(label) = max(label) as is_unanimous,
        any_value(stratum order by annotator) as stratum,
        any_value(weight order by annotator) as weight,

    from annotations
    group by all

),

last_rounds as (

    select
        *,
        sum(n_labels) over pair as n_labels_of_pair,
        first_value(stratum ignore nulls) over by_round as stratum_of_pair,
        first_value(weight ignore nulls) over by_round as weight_of_pair,

    from rounds
    window
        pair as (partition by argument_id, nearest_argument_id),
        by_round as (
            partition by argument_id, nearest_argument_id order by round
            rows between unbounded preceding and unbounded following
        )
    qualify row_number() over (partition by argument_id, nearest_argument_id order by round desc) = 1

),

final as (

    select
        last_rounds.argument_id,
        last_rounds.nearest_argument_id,

        sessions.session_id,
        sessions.motion_id,
        sessions.language,
        sessions.condition,
        sessions.in_analysis,

        last_rounds.label,
        last_rounds.label >= 2 as repeated,
        last_rounds.label = 3 as strict,
        case
            when last_rounds.round > 1 then 'adjudication'
            when last_rounds.n_labels = 1 then 'single'
            when last_rounds.is_unanimous then 'agreed'
            else 'lower_median'
        end as label_source,
        last_rounds.n_labels_of_pair as n_labels,

        last_rounds.stratum_of_pair as stratum,
        last_rounds.weight_of_pair as weight,

    from last_rounds
    join sessions on sessions.session_id = {{ session_of_argument('last_rounds.argument_id') }}

)

select * from final
