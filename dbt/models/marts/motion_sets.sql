with

study as (

    select * from {{ ref('study') }}

),

sessions as (

    select * from {{ ref('sessions') }}

),

reviews as (

    select * from {{ ref('motions') }}

),

language_gaps as (

    select * from {{ ref('language_gaps') }}

),

analysed as (

    select * from sessions where in_analysis

),

debated as (

    select distinct
        motion_id,
        language,

    from analysed

),

-- A set for a language is about its debates and those of the reference language.
paired as (

    select
        debated.motion_id,
        debated.language,

    from debated
    cross join study
    join debated as reference
        on reference.motion_id = debated.motion_id
        and reference.language = study.reference_language
    where debated.language <> study.reference_language

),

-- Without any review in a language nothing says which of its motions to leave out, so there is no such set.
reviewed as (

    select
        language,
        motion_id,
        coalesce(qa_flagged, false) as qa_flagged,

    from reviews
    semi join debated using (motion_id, language)
    qualify count(qa_flagged) over (partition by language) > 0

),

flagged as (

    select * from reviewed where qa_flagged

),

everything as (

    select distinct
        'all' as motion_set,
        motion_id,

    from debated

),

unflagged_in_language as (

    select
        'excl_' || paired.language || '_flagged' as motion_set,
        paired.language,
        paired.motion_id,

    from paired
    semi join reviewed using (language)
    anti join flagged using (language, motion_id)

),

unflagged as (

    select
        'excl_any_flagged' as motion_set,
        everything.motion_id,

    from everything
    anti join flagged using (motion_id)
    where (select count(*) from reviewed) > 0

),

-- The gaps that tertiles are taken of: baseline, plain measure, the study's first encoder and field.
gaps as (

    select language_gaps.*
    from language_gaps
    join study
        on study.baseline_condition = language_gaps.condition
        and study.encoders[1] = language_gaps.encoder
        and study.fields[1] = language_gaps.field
    where language_gaps.variant = 'raw' and language_gaps.gap is not null

),

-- What every extractor that was run on the language has a gap for. With one extractor these are all its motions, and
-- the set says which of them a second extractor is to be run on.
covered as (

    select
        language,
        motion_id,
        max(gap) filter (where is_primary) as gap,

    from (
        select
            gaps.*,
            gaps.extractor = study.primary_extractor as is_primary,
            count(distinct gaps.extractor) over (partition by gaps.language) as n_extractors,

        from gaps
        cross join study
    )
    group by language, motion_id
    having count(distinct extractor) = max(n_extractors) and bool_or(is_primary)

),

tertiles as (

    select
        *,
        ntile(3) over (partition by language order by gap, motion_id) as tertile,
        count(*) over (partition by language) as n_covered,

    from covered

),

-- Which ten of a tertile is left to a hash of the motion's name and the seed: as good as a draw, and the same anywhere.
drawn as (

    select
        tertiles.*,
        row_number() over (
            partition by tertiles.language, tertiles.tertile
            order by md5(study.seed || ' ' || tertiles.motion_id), tertiles.motion_id
        ) as place,

    from tertiles
    cross join study

),

second_extractor as (

    select
        'second_extractor_' || language as motion_set,
        language,
        motion_id,
        ['low', 'middle', 'high'][tertile] as stratum,

    from drawn
    where place <= 10 or n_covered <= 30

),

-- The condition of a continuation or of a translated session names no prompt.
prompted as (

    select *
    from analysed
    where {{ decoding_part('condition', 'parameter') }} = ''
        and {{ translation_part('condition', 'kind') }} = ''

),

condition_counts as (

    select
        motion_id,
        language,
        count(distinct condition) as n_conditions,
        count(distinct condition) = (select count(distinct condition) from prompted) as has_all,

    from prompted
    group by all

),

ablation as (

    select
        'ablation_' || paired.language as motion_set,
        paired.language,
        paired.motion_id,

    from paired
    cross join study
    join condition_counts
        on condition_counts.motion_id = paired.motion_id
        and condition_counts.language = paired.language
    join condition_counts as reference_counts
        on reference_counts.motion_id = paired.motion_id
        and reference_counts.language = study.reference_language
    where condition_counts.has_all
        and reference_counts.has_all
        and condition_counts.n_conditions > 1

),

repeat_counts as (

    select
        analysed.motion_id,
        analysed.language,
        count(distinct analysed.repeat) as n_repeats,

    from analysed
    join study on study.baseline_condition = analysed.condition
    group by all

),

repeats as (

    select
        'repeats_' || paired.language as motion_set,
        paired.language,
        paired.motion_id,

    from paired
    cross join study
    join repeat_counts
        on repeat_counts.motion_id = paired.motion_id
        and repeat_counts.language = paired.language
    join repeat_counts as reference_counts
        on reference_counts.motion_id = paired.motion_id
        and reference_counts.language = study.reference_language
    where repeat_counts.n_repeats > 1 and reference_counts.n_repeats > 1

),

sets as (

    select *, 'Every motion of the analysis.' as description from everything
    union all by name
    select *, 'Without motions whose translation into this language is flagged.' as description
    from unflagged_in_language
    union all by name
    select *, 'Without motions whose translation into any language is flagged.' as description from unflagged
    union all by name
    select
        *,
        'Ten motions of each tertile of the gap, or all when there are no more than thirty; of those that every '
        'extractor has answered.' as description,
    from second_extractor
    union all by name
    select *, 'Motions debated under every condition, in this language and the reference language.' as description
    from ablation
    union all by name
    select *, 'Motions debated more than once in the baseline, in this language and the reference language.' as description
    from repeats

),

final as (

    select
        motion_set,
        motion_id,
        language,
        stratum,
        description,

    from sets

)

select * from final
