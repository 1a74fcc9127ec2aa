with

study as (

    select * from {{ ref('study') }}

),

repeat_noise as (

    select * from {{ ref('repeat_noise') }}

),

repeat_gaps as (

    select * from {{ ref('repeat_gaps') }}

),

published_labels as (

    select * from {{ ref('published_labels') }}

),

-- The paper prints these three in a sentence [E.9], not in a table.
published as (

    select *
    from (
        values
        ('bge-m3', '0.009', 0.009::double), ('multilingual-e5-large', '0.028', 0.028), ('labse', '0.043', 0.043)
    ) as cells (encoder, value, estimate)

),

moved as (

    select
        repeat_gaps.encoder,
        repeat_gaps.language,
        count(distinct repeat_gaps.motion_id) as n_moved,
        count(distinct repeat_gaps.motion_id) filter (where repeat_gaps.changes_sign) as n_changing_sign,
        max(abs(repeat_gaps.mean_gap - repeat_gaps.first_gap)) as largest_movement,

    from repeat_gaps
    join study
        on study.primary_extractor = repeat_gaps.extractor
        and study.baseline_condition = repeat_gaps.condition
    where repeat_gaps.field = 'claim'
    group by all

),

ours as (

    select
        repeat_noise.*,
        moved.* exclude (encoder, language),

    from repeat_noise
    join study on study.primary_extractor = repeat_noise.extractor
    left join moved
        on moved.encoder = repeat_noise.encoder
        and moved.language = repeat_noise.language
    where repeat_noise.field = 'claim'
        and repeat_noise.variant = 'raw'
        and repeat_noise.aggregate = 'agent_mean'

),

paired as (

    select
        coalesce(ours.encoder, published.encoder) as encoder,
        ours.language,

        {% for column in estimate_columns() %}
        ours.{{ column }},
        {% endfor %}
        ours.n_cells,
        ours.n_sessions,
        ours.n_moved,
        ours.n_changing_sign,
        ours.largest_movement,

        published.value as published_value,
        published.estimate as published_estimate,
        case
            when ours.encoder is null
                then 'Needs this encoder in the study, and motions debated more than once in a language and condition.'
        end as missing,

    from ours
    full join published
        on published.encoder = ours.encoder
        and ours.language is null

),

final as (

    {{ in_published_order(['encoder', 'language']) }}

)

select * from final
