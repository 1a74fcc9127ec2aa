with

sessions as (

    select * from {{ ref('sessions') }}

),

arguments as (

    select * from {{ ref('arguments') }}

),

argument_types as (

    select * from {{ ref('stg_study__argument_types') }}

),

analysed as (

    select arguments.*
    from arguments
    join sessions on sessions.session_id = arguments.session_id
    where sessions.in_analysis

),

totals as (

    select
        language,
        condition,
        extractor,
        count(*) as n_arguments,

    from analysed
    group by all

),

counted as (

    select
        language,
        condition,
        extractor,
        argument_type,
        count(*) as n_of_type,

    from analysed
    group by all

),

-- A type that nobody used has a share of zero, not no row.
final as (

    select
        totals.language,
        totals.condition,
        totals.extractor,
        argument_types.argument_type,

        coalesce(counted.n_of_type, 0) as n_of_type,
        totals.n_arguments,
        coalesce(counted.n_of_type, 0) / totals.n_arguments as share,

    from totals
    cross join argument_types
    left join counted
        on counted.language = totals.language
        and counted.condition = totals.condition
        and counted.extractor = totals.extractor
        and counted.argument_type = argument_types.argument_type

)

select * from final
