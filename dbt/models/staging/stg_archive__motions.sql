with

source as (

    select * from {{ source('archive', 'motions') }}

),

final as (

    select
        motion_id,
        language,

        motion_text,
        source,

        back_translation,
        adequacy_score,
        preserves_actor,
        preserves_policy_action,
        preserves_stance_or_burden,
        preserves_scope,
        preserves_key_terms,
        issue_type,
        brief_reason,
        triage,

        part,
        file,
        line,
        extra,

    from source

)

select * from final
