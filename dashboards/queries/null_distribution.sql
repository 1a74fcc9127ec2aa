select language, turn_index, null_mean, null_sd, n_draws, n_sessions
from marts.null_distribution
where
    condition = $condition
    and extractor = $extractor
    and encoder = $encoder
    and field = $field
order by language, turn_index
