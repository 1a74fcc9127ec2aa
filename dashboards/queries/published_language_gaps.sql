select distinct
    table_03.encoder, table_03.language, table_03.published_value,
    table_03.published_estimate::double as estimate,
    coalesce(table_03.published_ci_low, table_04.published_ci_low)::double as ci_low,
    coalesce(table_03.published_ci_high, table_04.published_ci_high)::double as ci_high
from reports.table_03
left join reports.table_04 using (encoder, language)
where table_03.published_estimate is not null
order by all
