select
    encoder, model, coalesce(resolved_revision, revision) as revision, backend, prefix, dtype, dimension, max_length,
    device, n_texts, n_over_max_length
from marts.encoders
order by encoder
