select encoder, backend, model, revision, prefix, dimension, max_length, device, n_texts, n_over_max_length
from marts.encoders
order by encoder
