"""The table that reading judgments writes, as a pyarrow schema."""

from __future__ import annotations

import pyarrow as pa

from ingest.archive.schemas import PROVENANCE
from ingest.judge.answers import DIMENSIONS

# One row per judgment, read or not. `reason` is NULL exactly when `parsed`. `label` belongs to pair judgments,
# `function` to function labels, the dimensions to outcome scores; each is NULL elsewhere and in a failure. `extra`
# holds the answer's fields beyond what was asked for.
JUDGMENT_PARSES_SCHEMA = pa.schema(
    [
        pa.field("instrument", pa.string(), nullable=False),
        pa.field("judge", pa.string(), nullable=False),
        pa.field("round", pa.int32()),
        pa.field("session_id", pa.string()),
        pa.field("argument_id", pa.string()),
        pa.field("nearest_argument_id", pa.string()),
        pa.field("n_turns", pa.int32()),
        pa.field("parsed", pa.bool_(), nullable=False),
        pa.field("reason", pa.string()),
        pa.field("labels", pa.list_(pa.string()), nullable=False),
        pa.field("label", pa.int32()),
        pa.field("function", pa.string()),
        *(pa.field(dimension, pa.int32()) for dimension in DIMENSIONS),
        pa.field("rationale", pa.string()),
        pa.field("raw_response", pa.string(), nullable=False),
        pa.field("created_at", pa.string()),
        pa.field("extra", pa.string()),
        *PROVENANCE,
    ]
)
