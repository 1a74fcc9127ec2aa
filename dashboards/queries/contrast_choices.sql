select distinct language, condition, reference_condition, agent, reference_agent, aggregate
from marts.gap_estimates
where contrast = $contrast
order by all
