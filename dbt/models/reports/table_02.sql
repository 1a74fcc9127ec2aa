with

study as (

    select * from {{ ref('study') }}

),

agreement as (

    select * from {{ ref('agreement') }}

),

calibration as (

    select * from {{ ref('calibration') }}

),

extraction_audit_rates as (

    select * from {{ ref('extraction_audit_rates') }}

),

instrument_alignment as (

    select * from {{ ref('instrument_alignment') }}

),

prior_argument_similarity as (

    select * from {{ ref('prior_argument_similarity') }}

),

cells as (

    select * from prior_argument_similarity where "table" = '2'

),

-- What rests on an encoder rests on BGE-M3 in the paper.
published as (

    select
        case cells."row"
            when 'Extraction quality (ZH–EN)' then 'extraction_quality_gap'
            when 'Exact agreement' then 'exact_agreement'
            when 'Binary \kappa' then 'kappa_repeated'
            when 'Weighted \kappa' then 'kappa_quadratic'
            when 'Spearman \rho' then 'spearman'
            when 'AUC' then 'auc_repeated'
            when 'Top-quintile rate (ZH–EN)' then 'top_quintile_rate_gap'
            when 'Top-decile rate (ZH–EN)' then 'top_decile_rate_gap'
            when 'Calibrated strict-rep. gap' then 'calibrated_strict_gap'
        end as measure,
        case
            when cells."row" similar to '(Spearman|AUC|Top|Calibrated).*' then 'bge-m3'
        end as encoder,
        cells.*,

    from cells

),

quality as (

    select
        'extraction_quality_gap' as measure,
        extraction_audit_rates.* exclude (dimension),
        n_turns as n,

    from extraction_audit_rates
    join study on study.baseline_condition = extraction_audit_rates.condition
    where extraction_audit_rates.dimension = 'quality'
        and extraction_audit_rates.language = 'zh'
        and extraction_audit_rates.reference_language is not null

),

-- Of more than two annotators, the pair that shares most pairs of claims.
agreed as (

    select
        case when dimension = 'repeated' then 'kappa_repeated' else measure end as measure,
        agreement.* exclude (measure),
        n_items as n,

    from agreement
    where comparison = 'annotators'
        and language is null
        and (dimension, measure) in (
            ('label', 'exact_agreement'), ('repeated', 'kappa'), ('label', 'kappa_quadratic')
        )
    qualify row_number() over (partition by dimension, measure order by n_items desc, rater, other_rater) = 1

),

aligned as (

    select
        instrument_alignment.*,
        instrument as encoder,
        n_pairs as n,

    from instrument_alignment
    where instrument_kind = 'encoder'
        and field = 'claim'
        and language is null
        and measure in ('spearman', 'auc_repeated')

),

calibrated as (

    select
        'calibrated_strict_gap' as measure,
        calibration.*,
        n_labelled as n,

    from calibration
    where quantity = 'calibrated_rate'
        and collapse = 'strict'
        and field = 'claim'
        and language = 'zh'
        and reference_language is not null

),

ours as (

    select * from quality
    union all by name
    select * from agreed
    union all by name
    select * from aligned
    union all by name
    select * from calibrated

),

paired as (

    {{ beside_published(
        ['measure', 'encoder'],
        estimate_columns('n'),
        'Needs annotations (annotations.csv), and this encoder in the study where one is named.',
    ) }}

),

final as (

    select *
    from paired
    order by
        list_position(
            [
                'extraction_quality_gap', 'exact_agreement', 'kappa_repeated', 'kappa_quadratic', 'spearman',
                'auc_repeated', 'top_quintile_rate_gap', 'top_decile_rate_gap', 'calibrated_strict_gap',
            ],
            measure
        ),
        encoder

)

select * from final
