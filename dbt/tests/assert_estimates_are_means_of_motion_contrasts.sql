-- An estimate is the mean of its contrast over motions, and n_motions counts them.
-- Why: the estimators align motions and contrasts in a matrix; a shifted row or column would show here.
-- Returns: contrasts whose mean or count differs.

with

recomputed as (

    select
        * exclude (motion_id, difference),
        avg(difference) as mean_difference,
        count(difference) as n_differences,

    from {{ ref('motion_contrasts') }}
    group by all

)

select
    estimates.*,
    recomputed.mean_difference,
    recomputed.n_differences,

from {{ ref('gap_estimates') }} as estimates
join recomputed
    on {% for column in contrast_columns() -%}
    recomputed.{{ column }} is not distinct from estimates.{{ column }}{{ ' and ' if not loop.last }}
    {% endfor %}
where not coalesce(abs(estimates.estimate - recomputed.mean_difference) <= 1e-9, false)
    or estimates.n_motions <> recomputed.n_differences
