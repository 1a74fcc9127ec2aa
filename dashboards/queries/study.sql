select
    name, reference_language, baseline_condition, languages, conditions, extractors, encoders, fields, agents,
    primary_extractor, n_resamples, seed, confidence, min_clusters, incomplete_sessions, rejects
from marts.study
