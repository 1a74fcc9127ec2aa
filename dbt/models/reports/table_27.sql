with

instrument_alignment as (

    select * from {{ ref('instrument_alignment') }}

),

prior_argument_similarity as (

    select * from {{ ref('prior_argument_similarity') }}

),

cells as (

    select * from prior_argument_similarity where "table" = '27'

),

published as (

    select
        case cells."row"
            when 'BGE-M3 cosine' then 'encoder'
            when 'BGE cross-encoder' then 'scorer'
            when 'DeepSeek-Chat pair judge' then 'judge'
        end as instrument_kind,
        case cells."row"
            when 'BGE-M3 cosine' then 'bge-m3'
            when 'BGE cross-encoder' then 'bge-reranker-v2-m3'
            when 'DeepSeek-Chat pair judge' then 'deepseek-chat'
        end as instrument,
        case
            when cells."column" = 'N' then 'n_pairs'
            when cells."column" like 'Spearman%' then 'spearman'
            when cells."column" like 'AUC repeated%' then 'auc_repeated'
            when cells."column" like 'AUC strict%' then 'auc_strict'
        end as measure,
        cells.*,

    from cells

),

pooled as (

    select * from instrument_alignment where language is null and field = 'claim'

),

ours as (

    select * from pooled

    union all by name

    select
        instrument_kind,
        instrument,
        'n_pairs' as measure,
        n_pairs::double as estimate,
        n_pairs,
        n_motions,

    from pooled
    where measure = 'spearman'

),

paired as (

    {{ beside_published(
        ['instrument_kind', 'instrument', 'measure'],
        estimate_columns('n_pairs'),
        'Needs settled labels and this instrument: the encoder or scorer in the study, or the judge in judgments.jsonl.',
    ) }}

),

final as (

    select *
    from paired
    order by
        list_position(['encoder', 'scorer', 'judge'], instrument_kind),
        instrument,
        list_position(['n_pairs', 'spearman', 'auc_repeated', 'auc_strict'], measure)

)

select * from final
