select
    "table", "row", "column", language, estimate, ci_low, ci_high, published_value,
    published_estimate::double as published_estimate, published_ci_low::double as published_ci_low,
    published_ci_high::double as published_ci_high, difference, note
from reports.comparison
order by try_cast("table" as integer) nulls last, "table", "row", "column"
