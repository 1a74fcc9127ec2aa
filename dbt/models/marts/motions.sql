with

motions as (

    select * from {{ ref('stg_archive__motions') }}

),

-- A criterion that was not recorded flags nothing; a motion without any recorded criterion was not checked: NULL.
judged as (

    select
        *,
        coalesce(
            adequacy_score::varchar,
            preserves_actor::varchar,
            preserves_policy_action::varchar,
            preserves_stance_or_burden::varchar,
            preserves_scope::varchar,
            preserves_key_terms::varchar,
            issue_type
        ) is not null as has_qa,
        coalesce(adequacy_score <= 3, false)
            or not coalesce(preserves_actor, true)
            or not coalesce(preserves_policy_action, true)
            or not coalesce(preserves_stance_or_burden, true)
            or not coalesce(preserves_scope, true)
            or not coalesce(preserves_key_terms, true)
            or coalesce(lower(trim(issue_type)) <> 'none', false) as meets_flag_rule,

    from motions

),

final as (

    select
        motion_id,
        language,

        motion_text,
        source,

        if(has_qa, meets_flag_rule, null) as qa_flagged,
        adequacy_score,
        issue_type,
        triage,
        back_translation,

    from judged

)

select * from final
