-- Every contrast has an estimate, and every estimate has a contrast.
-- Why: an estimate without a contrast is left over from another build; a contrast without one was dropped.
-- Returns: contrasts that only one of the two tables has.

with

contrasts as (

    select distinct {{ contrast_columns() | join(', ') }} from {{ ref('motion_contrasts') }}

),

estimates as (

    select {{ contrast_columns() | join(', ') }} from {{ ref('gap_estimates') }}

)

select 'without estimate' as fault, * from (from contrasts except from estimates)
union all
select 'without contrast' as fault, * from (from estimates except from contrasts)
