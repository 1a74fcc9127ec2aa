with

study as (

    select * from {{ ref('study') }}

),

subset_gap_estimates as (

    select * from {{ ref('subset_gap_estimates') }}

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
            when 'Full set' then 'all'
            when 'Excl. M056' then 'excl_M056'
            when 'Excl. zh-flagged' then 'excl_zh_flagged'
            when 'Excl. all flagged' then 'excl_any_flagged'
        end as motion_set,
        'zh' as language,
        case when cells."column" = 'n motions' then 'n_motions' else 'language_gap' end as quantity,
        nullif(cells."column", 'n motions') as encoder,
        cells.*,

    from prior_argument_similarity as cells
    where cells."table" = '7'

),

gaps as (

    {{ headline_estimates(['language_gap'], 'subset_gap_estimates') }}
        and subset_gap_estimates.condition = study.baseline_condition
        and (
            subset_gap_estimates.motion_set in ('all', 'excl_any_flagged')
            or subset_gap_estimates.motion_set = 'excl_' || subset_gap_estimates.language || '_flagged'
        )

),

ours as (

    select
        'language_gap' as quantity,
        *,

    from gaps

    union all by name

    select
        'n_motions' as quantity,
        motion_set,
        language,
        max(n_motions)::double as estimate,
        max(n_motions) as n_motions,
        {{ no_interval() }}

    from gaps
    group by motion_set, language

),

beside as (

    {{ beside_published(
        ['motion_set', 'language', 'quantity', 'encoder'],
        estimate_columns(),
        'Needs translation reviews (qa in motions.jsonl), this encoder in the study, and debates in this language and '
        ~ 'the reference language.',
    ) }}

),

-- M056 is the one motion of the paper whose translation its authors found borderline.
paired as (

    select * replace (
        case
            when motion_set = 'excl_M056' then 'Leaves out a motion of the paper: name the motions of a study to choose.'
            else missing
        end as missing
    )

    from beside

),

final as (

    {{ in_published_order([
        'language',
        "list_position(['all', 'excl_M056', 'excl_zh_flagged', 'excl_any_flagged'], motion_set)",
        'motion_set',
        "quantity = 'language_gap'",
        'encoder',
    ]) }}

)

select * from final
