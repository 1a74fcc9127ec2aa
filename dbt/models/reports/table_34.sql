with

study as (

    select * from {{ ref('study') }}

),

gap_estimates as (

    select * from {{ ref('gap_estimates') }}

),

outcome_associations as (

    select * from {{ ref('outcome_associations') }}

),

prior_argument_similarity as (

    select * from {{ ref('prior_argument_similarity') }}

),

cells as (

    select * from prior_argument_similarity where "table" = '34'

),

-- The paper subtracts Chinese from English here; elsewhere the reference language is subtracted.
published as (

    select
        case cells."row"
            when 'Process score, BGE-M3' then 'similarity'
            when 'Argumentative development' then 'argumentative_development'
            when 'Engagement' then 'engagement'
            when 'Final argument quality' then 'final_argument_quality'
        end as measure,
        case when cells."row" like 'Process score%' then 'bge-m3' else 'gemini-3.5-flash' end as instrument,
        'diversity' as condition,
        case when cells."column" = 'Chinese' then 'zh' else 'en' end as language,
        case when cells."column" like 'Difference%' then 'zh' end as reference_language,
        cells.*,

    from cells

),

process as (

    select
        'similarity' as measure,
        gap_estimates.encoder as instrument,
        gap_estimates.* exclude (encoder),

    from gap_estimates
    join study on study.primary_extractor = gap_estimates.extractor
    where gap_estimates.contrast in ('condition_effect', 'condition_change')
        and gap_estimates.aggregate = 'agent_mean'
        and gap_estimates.field = 'claim'
        and gap_estimates.variant = 'raw'
        and gap_estimates.language in ('zh', study.reference_language)

),

outcomes as (

    select
        dimension as measure,
        judge as instrument,
        outcome_associations.*,

    from outcome_associations
    where analysis in ('condition_effect', 'difference_in_differences')

),

changes as (

    select * from process
    union all by name
    select * from outcomes

),

ours as (

    select
        measure,
        instrument,
        condition,
        case when reference_language is null then language else reference_language end as language,
        case when reference_language is not null then language end as reference_language,
        case when reference_language is null then estimate else -estimate end as estimate,
        case when reference_language is null then ci_low else -ci_high end as ci_low,
        case when reference_language is null then ci_high else -ci_low end as ci_high,
        ci_excludes_zero,
        n_motions,
        interval_status,
        interval_note,
        n_distinct_scores,
        ceiling_share,

    from changes

),

paired as (

    {{ beside_published(
        ['measure', 'instrument', 'condition', 'language', 'reference_language'],
        [
            'estimate', 'ci_low', 'ci_high', 'ci_excludes_zero', 'n_motions', 'interval_status', 'interval_note',
            'n_distinct_scores', 'ceiling_share',
        ],
        'Needs this condition in the archive with this encoder, or judgments of the instrument outcome by this judge.',
    ) }}

),

final as (

    select *
    from paired
    order by
        condition,
        list_position(
            [
                'similarity', 'argumentative_development', 'engagement', 'final_argument_quality', 'overall_quality',
            ],
            measure
        ),
        instrument,
        reference_language nulls first,
        language

)

select * from final
