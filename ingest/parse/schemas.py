"""The tables that parsing writes, as pyarrow schemas."""

from __future__ import annotations

import pyarrow as pa

# One row per argument × extractor. Texts as delivered; `argument_type_raw` is not yet collapsed to the ten buckets.
ARGUMENTS_SCHEMA = pa.schema(
    [
        pa.field("argument_id", pa.string(), nullable=False),
        pa.field("extractor", pa.string(), nullable=False),
        pa.field("session_id", pa.string(), nullable=False),
        pa.field("language", pa.string(), nullable=False),
        pa.field("turn_index", pa.int32(), nullable=False),
        pa.field("argument_index", pa.int32(), nullable=False),
        pa.field("claim", pa.string(), nullable=False),
        pa.field("warrant", pa.string(), nullable=False),
        pa.field("evidence_or_example", pa.string(), nullable=False),
        pa.field("argument_type_raw", pa.string(), nullable=False),
        pa.field("extra", pa.string()),
    ]
)

# One row per turn × extractor, parsed or not. `reason` is NULL exactly when `parsed`; `extra` holds an answer's fields
# beside its list of arguments.
EXTRACTION_PARSES_SCHEMA = pa.schema(
    [
        pa.field("session_id", pa.string(), nullable=False),
        pa.field("language", pa.string(), nullable=False),
        pa.field("turn_index", pa.int32(), nullable=False),
        pa.field("extractor", pa.string(), nullable=False),
        pa.field("parsed", pa.bool_(), nullable=False),
        pa.field("reason", pa.string()),
        pa.field("labels", pa.list_(pa.string()), nullable=False),
        pa.field("n_arguments", pa.int32(), nullable=False),
        pa.field("n_blank_claims", pa.int32(), nullable=False),
        pa.field("finish_reason", pa.string()),
        pa.field("raw_response", pa.string(), nullable=False),
        pa.field("extra", pa.string()),
    ]
)
