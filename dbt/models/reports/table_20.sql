with

study as (

    select * from {{ ref('study') }}

),

languages as (

    select * from {{ ref('languages') }}

),

encoder_agreement as (

    select * from {{ ref('encoder_agreement') }}

),

prior_argument_similarity as (

    select * from {{ ref('prior_argument_similarity') }}

),

published as (

    select
        languages.language,
        cells."row",
        cells."column",
        cells.value,
        split_part(cells.value, ' – ', 1)::double as lowest,
        split_part(cells.value, ' – ', 2)::double as highest,

    from prior_argument_similarity as cells
    join languages on languages.name = cells."row"
    where cells."table" = '20'

),

ours as (

    select
        encoder_agreement.language,
        min(encoder_agreement.estimate) as lowest,
        max(encoder_agreement.estimate) as highest,
        count(encoder_agreement.estimate) as n_encoder_pairs,
        string_agg(distinct encoder_agreement.interval_note, ' ') as note,

    from encoder_agreement
    cross join study
    where encoder_agreement.field = 'claim'
        and encoder_agreement.condition = study.baseline_condition
        and encoder_agreement.extractor = study.primary_extractor
    group by all

),

final as (

    select
        coalesce(ours.language, published.language) as language,

        ours.lowest,
        ours.highest,
        ours.n_encoder_pairs,
        ours.note,

        published."row" as published_row,
        published."column" as published_column,
        published.value as published_value,
        published.lowest as published_lowest,
        published.highest as published_highest,

        case
            when ours.language is null then 'Needs debates in this language and two encoders in the study.'
        end as missing,

    from ours
    full join published on published.language = ours.language

)

select * from final
order by language
