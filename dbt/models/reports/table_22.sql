with

study as (

    select * from {{ ref('study') }}

),

tail_rates as (

    select * from {{ ref('tail_rates') }}

),

prior_argument_similarity as (

    select * from {{ ref('prior_argument_similarity') }}

),

published_labels as (

    select * from {{ ref('published_labels') }}

),

published as (

    select
        'bge-m3' as encoder,
        case when cells."row" like 'BGE reranker%' then 'bge-reranker-v2-m3' else 'bge-m3' end as scorer,
        100 - regexp_extract(cells."row", '(\d+)%', 1)::int as percentile,
        case cells."column" when 'EN rate' then 'reference_rate' when 'ZH rate' then 'rate' else 'difference' end as quantity,
        'zh' as language,
        cells.*,

    from prior_argument_similarity as cells
    where cells."table" = '22'

),

ours as (

    select tail_rates.*
    from tail_rates
    cross join study
    where tail_rates.field = 'claim'
        and tail_rates.condition = study.baseline_condition
        and tail_rates.extractor = study.primary_extractor

),

paired as (

    {{ beside_published(
        ['encoder', 'scorer', 'language', 'percentile', 'quantity'],
        [
            'threshold', 'estimate', 'ci_low', 'ci_high', 'ci_excludes_zero', 'n_pairs', 'n_motions', 'interval_status',
            'interval_note',
        ],
        'Needs this encoder and scorer in the study, and debates in this language and the reference language.',
    ) }}

),

final as (

    {{ in_published_order([
        'encoder',
        'scorer',
        'language',
        'percentile',
        "list_position(['reference_rate', 'rate', 'difference'], quantity)",
    ]) }}

)

select * from final
