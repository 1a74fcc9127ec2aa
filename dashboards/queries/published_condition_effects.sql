select
    encoder, language, condition, published_value, published_estimate::double as estimate,
    published_ci_low::double as ci_low, published_ci_high::double as ci_high
from reports.table_08
where published_estimate is not null and condition = $condition
order by all
