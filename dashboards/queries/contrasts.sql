select distinct contrast
from marts.gap_estimates
order by contrast
