with

study as (

    select * from {{ ref('study') }}

),

subset_gap_estimates as (

    select * from {{ ref('subset_gap_estimates') }}

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
        lower(cells."row") as extractor,
        'second_extractor_zh' as motion_set,
        case
            when cells."column" = 'Motions' then 'n_motions'
            when cells."column" like 'Args/turn%' then 'mean_arguments'
            when cells."column" like 'Empty W%' then 'empty_warrant_rate'
            when cells."column" like 'Claim chars%' then 'mean_claim_characters'
            else 'language_gap'
        end as measure,
        case when cells."column" like '% EN' then 'en' when cells."column" <> 'Motions' then 'zh' end as language,
        case when cells."column" like 'BGE-M3%' then 'bge-m3' end as encoder,
        cells.*,

    from prior_argument_similarity as cells
    where cells."table" = '25'

),

-- A set for a language: its own debates and those of the reference language, by each extractor.
diagnosed as (

    select extraction_diagnostics.*
    from extraction_diagnostics
    join study on study.baseline_condition = extraction_diagnostics.condition
    where extraction_diagnostics.motion_set like 'second\_extractor\_%' escape '\'

),

gaps as (

    select subset_gap_estimates.*
    from subset_gap_estimates
    join study on study.baseline_condition = subset_gap_estimates.condition
    where subset_gap_estimates.motion_set = 'second_extractor_' || subset_gap_estimates.language
        and subset_gap_estimates.contrast = 'language_gap'
        and subset_gap_estimates.aggregate = 'agent_mean'
        and subset_gap_estimates.field = 'claim'

),

described as (

    select
        motion_set,
        extractor,
        language,
        measure,
        n_motions,
        n_turns,
        estimate,

    from (
        unpivot diagnosed on mean_arguments, empty_warrant_rate, mean_claim_characters into name measure value estimate
    )

    union all by name

    select
        motion_set,
        extractor,
        'n_motions' as measure,
        max(n_motions) as n_motions,
        max(n_motions)::double as estimate,

    from gaps
    group by motion_set, extractor

),

ours as (

    select
        *,
        {{ no_interval() }}

    from described

    union all by name

    select
        *,
        'language_gap' as measure,

    from gaps

),

paired as (

    {{ beside_published(
        ['motion_set', 'extractor', 'measure', 'language', 'encoder'],
        estimate_columns('n_turns'),
        'Needs answers of this extractor on debates of the motions of this set (marts.motion_sets), and for the gap '
        ~ 'this encoder in the study.',
    ) }}

),

final as (

    {{ in_published_order([
        'motion_set',
        "list_position(['llama-4-scout', 'deepseek-chat'], extractor)",
        'extractor',
        "list_position(['n_motions', 'mean_arguments', 'empty_warrant_rate', 'mean_claim_characters', "
        ~ "'language_gap'], measure)",
        'language',
        'encoder',
    ]) }}

)

select * from final
