select
    encoder, agent, language, published_value, published_estimate::double as estimate,
    published_ci_low::double as ci_low, published_ci_high::double as ci_high
from reports.table_05
where published_estimate is not null and language = $language
order by all
