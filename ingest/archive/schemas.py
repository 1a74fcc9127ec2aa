"""The archive's tables as pyarrow schemas: the one place where their columns are written down.

`ARCHIVE_SCHEMAS` describes what `build_snapshot` writes and every later room reads. A part's tables have the same
columns and two more (`PART_COLUMNS`). `turns` and `extractions` lie in one directory per language, so that their
language is the name of the directory (`language=zh/`), not a column of the file.
"""

from __future__ import annotations

import pyarrow as pa

STRING_MAP = pa.map_(pa.string(), pa.string())

# Where a row came from, and whatever its record held beyond the contract (a JSON object, NULL when there is nothing).
PROVENANCE = (
    pa.field("part", pa.string(), nullable=False),
    pa.field("file", pa.string(), nullable=False),
    pa.field("line", pa.int64(), nullable=False),
)
EXTRA = pa.field("extra", pa.string())


def _key(name: str, kind: pa.DataType) -> pa.Field:
    return pa.field(name, kind, nullable=False)


def _table(*columns: pa.Field) -> pa.Schema:
    return pa.schema([*columns, *PROVENANCE, EXTRA])


ARCHIVE_SCHEMAS: dict[str, pa.Schema] = {
    "motions": _table(
        _key("motion_id", pa.string()),
        pa.field("source", pa.string()),
        _key("language", pa.string()),
        _key("motion_text", pa.string()),
        pa.field("back_translation", pa.string()),
        pa.field("adequacy_score", pa.int32()),
        pa.field("preserves_actor", pa.bool_()),
        pa.field("preserves_policy_action", pa.bool_()),
        pa.field("preserves_stance_or_burden", pa.bool_()),
        pa.field("preserves_scope", pa.bool_()),
        pa.field("preserves_key_terms", pa.bool_()),
        pa.field("issue_type", pa.string()),
        pa.field("brief_reason", pa.string()),
        pa.field("triage", pa.string()),
    ),
    "sessions": _table(
        _key("session_id", pa.string()),
        _key("motion_id", pa.string()),
        _key("motion_text", pa.string()),
        _key("language", pa.string()),
        _key("condition", pa.string()),
        pa.field("repeat", pa.int32()),
        pa.field("role_mapping", STRING_MAP),
        pa.field("agents", STRING_MAP),
        pa.field("status", pa.string()),
        pa.field("started_at", pa.string()),
        pa.field("finished_at", pa.string()),
        pa.field("source", pa.string()),
    ),
    "turns": _table(
        _key("session_id", pa.string()),
        _key("turn_index", pa.int32()),
        pa.field("phase", pa.string()),
        pa.field("role", pa.string()),
        pa.field("side", pa.string()),
        pa.field("agent", pa.string()),
        pa.field("model_id", pa.string()),
        _key("text", pa.string()),
        pa.field("prompt_sha256", pa.string()),
        pa.field("finish_reason", pa.string()),
        pa.field("input_tokens", pa.int64()),
        pa.field("output_tokens", pa.int64()),
        pa.field("created_at", pa.string()),
    ),
    "extractions": _table(
        _key("session_id", pa.string()),
        _key("turn_index", pa.int32()),
        _key("extractor", pa.string()),
        _key("raw_response", pa.string()),
        pa.field("finish_reason", pa.string()),
        pa.field("created_at", pa.string()),
    ),
    "annotations": _table(
        _key("task", pa.string()),
        _key("annotator", pa.string()),
        pa.field("round", pa.int32()),
        pa.field("argument_id", pa.string()),
        pa.field("nearest_argument_id", pa.string()),
        pa.field("session_id", pa.string()),
        pa.field("turn_index", pa.int32()),
        pa.field("label", pa.int32()),
        pa.field("quality", pa.int32()),
        pa.field("all_major_captured", pa.bool_()),
        pa.field("over_split", pa.bool_()),
        pa.field("under_split", pa.bool_()),
        pa.field("hallucination", pa.bool_()),
        pa.field("missing_major", pa.bool_()),
        pa.field("stratum", pa.string()),
        pa.field("weight", pa.float64()),
        pa.field("note", pa.string()),
        pa.field("created_at", pa.string()),
    ),
    "judgments": _table(
        _key("instrument", pa.string()),
        _key("judge", pa.string()),
        pa.field("round", pa.int32()),
        pa.field("session_id", pa.string()),
        pa.field("argument_id", pa.string()),
        pa.field("nearest_argument_id", pa.string()),
        # How many turns the judge was shown; NULL: all of them.
        pa.field("n_turns", pa.int32()),
        _key("raw_response", pa.string()),
        pa.field("created_at", pa.string()),
    ),
}

# What makes two records "the same one": the grain of each table.
KEYS: dict[str, tuple[str, ...]] = {
    "motions": ("motion_id", "language"),
    "sessions": ("session_id",),
    "turns": ("session_id", "turn_index"),
    "extractions": ("session_id", "turn_index", "extractor"),
    "annotations": (
        "task",
        "annotator",
        "round",
        "argument_id",
        "nearest_argument_id",
        "session_id",
        "turn_index",
    ),
    "judgments": ("instrument", "judge", "round", "session_id", "argument_id", "nearest_argument_id", "n_turns"),
}

# Tables without which there is nothing to analyse.
REQUIRED_TABLES = ("sessions", "turns", "extractions")
TABLES_BY_LANGUAGE = ("turns", "extractions")

PART_COLUMNS = (pa.field("content_hash", pa.binary(16), nullable=False), pa.field("raw_line", pa.string()))
PART_SCHEMAS: dict[str, pa.Schema] = {
    table: pa.schema([*schema, *PART_COLUMNS]) for table, schema in ARCHIVE_SCHEMAS.items()
}

# `records` is NULL when the file cannot be read to its end.
FILES_SCHEMA = pa.schema(
    [
        pa.field("part", pa.string(), nullable=False),
        pa.field("file", pa.string(), nullable=False),
        pa.field("table_name", pa.string(), nullable=False),
        pa.field("bytes", pa.int64(), nullable=False),
        pa.field("records", pa.int64()),
    ]
)

# `line` is NULL when the whole file cannot be read; so is `raw_line`.
REJECTS_SCHEMA = pa.schema(
    [
        pa.field("part", pa.string(), nullable=False),
        pa.field("file", pa.string(), nullable=False),
        pa.field("line", pa.int64()),
        pa.field("table_name", pa.string(), nullable=False),
        pa.field("record_id", pa.string()),
        pa.field("reason", pa.string(), nullable=False),
        pa.field("detail", pa.string(), nullable=False),
        pa.field("raw_line", pa.string()),
    ]
)

INTEGRITY_SCHEMA = pa.schema(
    [
        pa.field("rule", pa.string(), nullable=False),
        pa.field("session_id", pa.string()),
        pa.field("turn_index", pa.int32()),
        pa.field("detail", pa.string(), nullable=False),
    ]
)
