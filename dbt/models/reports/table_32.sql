with

study as (

    select * from {{ ref('study') }}

),

function_labels as (

    select * from {{ ref('function_labels') }}

),

prior_argument_similarity as (

    select * from {{ ref('prior_argument_similarity') }}

),

cells as (

    select * from prior_argument_similarity where "table" = '32'

),

published as (

    select
        case cells."row"
            when 'Redundant restatement' then 'redundant_restatement'
            when 'Rebuttal or response' then 'rebuttal_or_response'
            when 'Refinement or extension' then 'refinement_or_extension'
            when 'Quotation or reference' then 'quotation_or_reference'
            when 'Unclear or other' then 'unclear_or_other'
        end as function,
        'deepseek-chat' as judge,
        case cells."column" when 'EN' then 'en' when 'ZH' then 'zh' end as language,
        cells.*,

    from cells

),

labelled as (

    select function_labels.*
    from function_labels
    join study on study.baseline_condition = function_labels.condition
    where function_labels.function is not null and function_labels.round = 1

),

-- Every function has its row, also one that no pair got.
labels as (

    select distinct published.function, sizes.*
    from published
    cross join (
        select judge, language, count(*) as n_pairs
        from labelled
        group by judge, grouping sets ((language), ())
    ) as sizes

),

ours as (

    select
        labels.function,
        labels.judge,
        labels.language,
        100.0 * count(labelled.function) / labels.n_pairs as estimate,
        count(labelled.function) as n_with_function,
        labels.n_pairs,
        null::bigint as n_motions,
        {{ no_interval() }}

    from labels
    left join labelled
        on labelled.judge = labels.judge
        and labelled.function = labels.function
        and (labels.language is null or labelled.language = labels.language)
    group by labels.function, labels.judge, labels.language, labels.n_pairs

),

paired as (

    {{ beside_published(
        ['function', 'judge', 'language'],
        ['n_with_function'] + estimate_columns('n_pairs'),
        'Needs judgments of the instrument function by this judge (judgments.jsonl).',
    ) }}

),

final as (

    select *
    from paired
    order by
        judge,
        list_position(
            [
                'redundant_restatement', 'rebuttal_or_response', 'refinement_or_extension', 'quotation_or_reference',
                'unclear_or_other',
            ],
            function
        ),
        language nulls last

)

select * from final
