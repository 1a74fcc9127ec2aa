with chosen as (
    select *
    from marts.max_prior_pairs
    where
        list_contains($languages, language)
        and condition = $condition
        and extractor = $extractor
        and encoder = $encoder
        and field = $field
        and similarity between $lowest and $highest
        and ($motion::varchar is null or motion_id = $motion)
        and ($agent::varchar is null or agent = $agent)
        and ($side::varchar is null or same_side = ($side = 'same'))
    order by
        case when $order = 'highest first' then -similarity else similarity end,
        argument_id
    limit 200
)

select
    chosen.similarity, chosen.language, chosen.motion_id, chosen.session_id,
    chosen.nearest_turn_index, chosen.turn_index, chosen.nearest_agent, chosen.agent, chosen.same_side,
    nearest.claim as nearest_claim, arguments.claim,
    chosen.argument_id, chosen.nearest_argument_id, chosen.prior_pool_size, chosen.over_max_length
from chosen
left join marts.arguments using (argument_id, extractor)
left join marts.arguments as nearest
    on nearest.argument_id = chosen.nearest_argument_id and nearest.extractor = chosen.extractor
order by
    case when $order = 'highest first' then -chosen.similarity else chosen.similarity end,
    chosen.argument_id
