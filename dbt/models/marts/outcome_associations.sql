with

associations as (

    select * from {{ ref('stg_estimates__outcome_associations') }}

),

judge_scale as (

    select * from {{ ref('judge_scale') }}

),

-- Beside each figure, how finely the judge scored there: few distinct scores or many at its ceiling weaken any link.
final as (

    select
        associations.*,

        judge_scale.n_distinct_scores,
        judge_scale.ceiling_share,

    from associations
    left join judge_scale
        on judge_scale.judge = associations.judge
        and judge_scale.dimension = associations.dimension
        and judge_scale.language is not distinct from associations.language
        and judge_scale.condition is not distinct from associations.condition

)

select * from final
