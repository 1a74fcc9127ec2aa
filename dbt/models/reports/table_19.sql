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

sentence_audit as (

    select * from {{ ref('sentence_audit') }}

),

prior_argument_similarity as (

    select * from {{ ref('prior_argument_similarity') }}

),

published_labels as (

    select * from {{ ref('published_labels') }}

),

published as (

    select
        case split_part(cells."row", ' | ', 1) when 'Base' then 'baseline' else 'diversity' end as condition,
        split_part(cells."row", ' | ', 2) as language,
        case cells."column"
            when 'Turns' then 'n_turns'
            when 'Exact' then 'exact_rate'
            when 'Under' then 'under_rate'
            when 'Over' then 'over_rate'
            when 'Mean sents.' then 'mean_sentences'
            when 'Mean len.' then 'mean_sentence_length'
            when 'Mean args' then 'mean_arguments'
            when 'Mean sim.' then 'mean_similarity'
        end as measure,
        case when cells."column" = 'Mean sim.' then 'bge-m3' end as encoder,
        cells.*,

    from prior_argument_similarity as cells
    where cells."table" = '19'

),

audited as (

    select
        language,
        condition,
        n_turns,
        n_turns::double as turns,
        exact_rate,
        under_rate,
        over_rate,
        mean_sentences,
        mean_sentence_length,
        mean_arguments,

    from sentence_audit
    where motion_set = 'all'

),

-- Over turns, not over sessions: the aggregate of this table is turn_mean.
similarity as (

    select
        turn_similarity.language,
        turn_similarity.condition,
        turn_similarity.encoder,
        count(*) as n_turns,
        avg(turn_similarity.mean_arg_max_prev order by turn_similarity.session_id, turn_similarity.turn_index) as estimate,

    from turn_similarity
    join study on study.primary_extractor = turn_similarity.extractor
    join sessions on sessions.session_id = turn_similarity.session_id
    where sessions.in_analysis
        and turn_similarity.variant = 'raw'
        and turn_similarity.field = 'claim'
        and turn_similarity.mean_arg_max_prev is not null
    group by all

),

measures as (

    select
        language,
        condition,
        replace(measure, 'turns', 'n_turns') as measure,
        n_turns,
        estimate,

    from (
        unpivot audited
        on turns, exact_rate, under_rate, over_rate, mean_sentences, mean_sentence_length, mean_arguments
        into name measure value estimate
    )

    union all by name

    select
        *,
        'mean_similarity' as measure,

    from similarity

),

ours as (

    select
        *,
        null::bigint as n_motions,
        {{ no_interval() }}

    from measures

),

paired as (

    {{ beside_published(
        ['condition', 'language', 'measure', 'encoder'],
        estimate_columns('n_turns'),
        'Needs debates in this language under this condition, and for the mean similarity this encoder in the study.',
    ) }}

),

final as (

    {{ in_published_order([
        conditions_as_published(),
        'condition',
        'language',
        "list_position(['n_turns', 'exact_rate', 'under_rate', 'over_rate', 'mean_sentences', "
        ~ "'mean_sentence_length', 'mean_arguments', 'mean_similarity'], measure)",
        'encoder',
    ]) }}

)

select * from final
