with

study as (

    select * from {{ ref('stg_study__study') }}

),

extraction_parses as (

    select * from {{ ref('stg_argument_units__extraction_parses') }}

),

extractors as (

    select distinct extractor from extraction_parses

),

-- Figures that can rest on one extractor only (arguments of a turn, the paper's tables) rest on the study's first.
final as (

    select
        extractors.extractor,
        row_number() over (
            order by list_position(study.extractors, extractors.extractor) nulls last, extractors.extractor
        ) = 1 as is_primary,

    from extractors
    cross join study

)

select * from final
