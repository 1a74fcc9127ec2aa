-- The motion's text is that of the reference language: one wording for the same motion in every row.
select
    contrasts.language,
    row_number() over (partition by contrasts.language order by difference, motion_id) as rank,
    motion_id, difference, motion_text
from marts.motion_contrasts as contrasts
left join (
    select motion_id, motion_text
    from marts.motions
    where language = $reference_language
) using (motion_id)
where
    contrast = $contrast
    and list_contains($languages, contrasts.language)
    and condition = $condition
    and agent is not distinct from $agent
    and reference_agent is not distinct from $reference_agent
    and extractor = $extractor
    and encoder = $encoder
    and field = $field
    and variant = $variant
    and aggregate = $aggregate
order by contrasts.language, rank
