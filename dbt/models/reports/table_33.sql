with

outcome_associations as (

    select * from {{ ref('outcome_associations') }}

),

prior_argument_similarity as (

    select * from {{ ref('prior_argument_similarity') }}

),

cells as (

    select * from prior_argument_similarity where "table" = '33'

),

named as (

    select
        case when cells."row" like '%Spearman%' then 'spearman' else 'motion_fe_slope' end as analysis,
        case
            when cells."row" like '%final quality%' then 'final_argument_quality' else 'argumentative_development'
        end as dimension,
        case when cells."row" like 'EN baseline%' then 'en' end as language,
        cells.*,

    from cells

),

-- The paper prints an estimate and its uncertainty, an interval or a p-value, in two cells.
published as (

    select
        estimates.analysis,
        estimates.dimension,
        'gemini-3.5-flash' as judge,
        'bge-m3' as encoder,
        estimates.language,
        estimates."row",
        estimates."column",
        estimates.value,
        estimates.estimate,
        uncertainties.ci_low,
        uncertainties.ci_high,
        null::boolean as ci_excludes_zero,
        uncertainties.value as uncertainty,

    from named as estimates
    left join named as uncertainties
        on uncertainties."row" = estimates."row"
        and uncertainties."column" = 'Uncertainty'
    where estimates."column" = 'Estimate'

),

ours as (

    select *
    from outcome_associations
    where analysis in ('spearman', 'motion_fe_slope') and field = 'claim'

),

paired as (

    {{ beside_published(
        ['analysis', 'dimension', 'judge', 'encoder', 'language'],
        estimate_columns('n_sessions') + ['std_error', 'p_value', 'n_distinct_scores', 'ceiling_share'],
        'Needs judgments of the instrument outcome by this judge (judgments.jsonl), and this encoder in the study.',
    ) }}

),

final as (

    select
        paired.*,
        published.uncertainty as published_uncertainty,

    from paired
    left join published
        on published.analysis = paired.analysis
        and published.dimension = paired.dimension
        and published.judge = paired.judge
        and published.encoder = paired.encoder
        and published.language is not distinct from paired.language
    order by
        paired.judge,
        paired.encoder,
        list_position(['spearman', 'motion_fe_slope'], paired.analysis),
        paired.dimension,
        paired.language

)

select * from final
