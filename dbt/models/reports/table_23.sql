with

study as (

    select * from {{ ref('study') }}

),

extraction_diagnostics as (

    select * from {{ ref('extraction_diagnostics') }}

),

prior_argument_similarity as (

    select * from {{ ref('prior_argument_similarity') }}

),

published_labels as (

    select * from {{ ref('published_labels') }}

),

published as (

    select
        case cells."row"
            when 'Arguments/turn' then 'mean_arguments'
            when 'Claim characters' then 'mean_claim_characters'
            when 'Empty warrant' then 'empty_warrant_percent'
            when 'Empty evidence' then 'empty_evidence_percent'
            when 'Off-schema type' then 'off_schema_percent'
        end as measure,
        cells."column" as language,
        cells.*,

    from prior_argument_similarity as cells
    where cells."table" = '23'

),

-- The paper prints shares in percent.
diagnosed as (

    select
        extraction_diagnostics.language,
        extraction_diagnostics.n_turns,
        extraction_diagnostics.n_motions,
        extraction_diagnostics.mean_arguments,
        extraction_diagnostics.mean_claim_characters,
        100 * extraction_diagnostics.empty_warrant_rate as empty_warrant_percent,
        100 * extraction_diagnostics.empty_evidence_rate as empty_evidence_percent,
        100 * extraction_diagnostics.off_schema_rate as off_schema_percent,

    from extraction_diagnostics
    join study
        on study.primary_extractor = extraction_diagnostics.extractor
        and study.baseline_condition = extraction_diagnostics.condition
    where extraction_diagnostics.motion_set = 'all'

),

ours as (

    select
        *,
        {{ no_interval() }}

    from (
        unpivot diagnosed
        on mean_arguments, mean_claim_characters, empty_warrant_percent, empty_evidence_percent, off_schema_percent
        into name measure value estimate
    )

),

paired as (

    {{ beside_published(
        ['measure', 'language'], estimate_columns('n_turns'), 'Needs debates in this language, extracted.',
    ) }}

),

final as (

    {{ in_published_order([
        "list_position(['mean_arguments', 'mean_claim_characters', 'empty_warrant_percent', "
        ~ "'empty_evidence_percent', 'off_schema_percent'], measure)",
        'language',
    ]) }}

)

select * from final
