select
    extractor, language, condition, n_turns, n_failed, n_missing, failure_rate, mean_arguments, mean_claim_characters,
    empty_warrant_rate, empty_evidence_rate, off_schema_rate, without_type_rate, n_too_many_units, n_blank_claims
from marts.extraction_diagnostics
where motion_set = 'all'
order by extractor, condition, language
