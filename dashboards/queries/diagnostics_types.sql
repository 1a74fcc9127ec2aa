select language, argument_type, n_of_type, n_arguments, share
from marts.argument_type_shares
where condition = $condition and extractor = $extractor
order by argument_type, language
