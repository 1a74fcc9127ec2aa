select
    labels.function, labels.language, labels.judge, labels.rationale, labels.argument_id, labels.nearest_argument_id,
    earlier.claim as earlier_claim, later.claim as later_claim
from marts.function_labels as labels
cross join marts.study
join marts.arguments as later
    on later.argument_id = labels.argument_id and later.extractor = study.primary_extractor
join marts.arguments as earlier
    on earlier.argument_id = labels.nearest_argument_id and earlier.extractor = study.primary_extractor
where labels.function is not null and labels.round = 1
qualify row_number() over (partition by labels.function, labels.language order by labels.argument_id) <= 2
order by labels.function, labels.language, labels.argument_id
