with

prior_argument_similarity as (

    select * from {{ ref('prior_argument_similarity') }}

),

cells as (

    select * from prior_argument_similarity where "table" = '18'

),

-- The four contrasts compare native with translated and round-trip sessions, which no condition of an archive holds
-- yet: every row says so.
final as (

    select
        trim(split_part(cells."row", ',', 1)) as comparison,
        case trim(split_part(cells."row", ',', 2))
            when 'BGE-M3' then 'bge-m3'
            when 'LaBSE' then 'labse'
            else trim(split_part(cells."row", ',', 2))
        end as encoder,

        null::double as estimate,
        null::double as ci_low,
        null::double as ci_high,
        null::boolean as ci_excludes_zero,
        null::bigint as n_motions,
        null::varchar as interval_status,
        null::varchar as interval_note,

        cells."row" as published_row,
        cells."column" as published_column,
        cells.value as published_value,
        cells.estimate as published_estimate,
        cells.ci_low as published_ci_low,
        cells.ci_high as published_ci_high,
        cells.ci_excludes_zero as published_excludes_zero,

        'Needs translated and round-trip sessions, re-extracted and rescored: this version makes none.' as missing,

    from cells
    order by encoder, comparison

)

select * from final
