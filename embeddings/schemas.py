"""The tables that this room writes."""

import pyarrow as pa


def _column(name: str, kind: pa.DataType, nullable: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=nullable)


# One row per argument, extractor and field. `similarity` and `nearest_argument_id` are NULL when the prior pool is
# empty, `fixed_k5` and `fixed_k10` when it holds fewer than 5 or 10.
# `over_max_length` says that the argument's own text is longer than the encoder's max_length.
PAIRS = pa.schema(
    [
        _column("argument_id", pa.string()),
        _column("extractor", pa.string()),
        _column("encoder", pa.string()),
        _column("field", pa.string()),
        _column("session_id", pa.string()),
        _column("turn_index", pa.int32()),
        _column("nearest_argument_id", pa.string(), nullable=True),
        _column("similarity", pa.float64(), nullable=True),
        _column("fixed_k5", pa.float64(), nullable=True),
        _column("fixed_k10", pa.float64(), nullable=True),
        _column("prior_pool_size", pa.int32()),
        _column("over_max_length", pa.bool_()),
    ]
)

# One row per turn, extractor, field and other session that it was compared with: the maxima of the turn's arguments
# over the arguments that the other session has before that turn, as their number, mean and squared deviations.
NULL_MAXIMA = pa.schema(
    [
        _column("session_id", pa.string()),
        _column("other_session_id", pa.string()),
        _column("extractor", pa.string()),
        _column("encoder", pa.string()),
        _column("field", pa.string()),
        _column("turn_index", pa.int32()),
        _column("n_draws", pa.int32()),
        _column("mean", pa.float64()),
        _column("sum_squared_deviations", pa.float64()),
    ]
)

# One row per encoder. `n_texts` and `n_over_max_length` count the distinct texts behind the pairs. What is known only
# from vectors (dimension, device, resolved_revision, library_versions) is NULL when there is no text.
ENCODERS = pa.schema(
    [
        _column("encoder", pa.string()),
        _column("encoder_key", pa.string()),
        _column("backend", pa.string()),
        _column("model", pa.string()),
        _column("revision", pa.string()),
        _column("resolved_revision", pa.string(), nullable=True),
        _column("prefix", pa.string()),
        _column("dtype", pa.string()),
        _column("batch_size", pa.int32()),
        _column("max_length", pa.int32(), nullable=True),
        _column("normalize", pa.bool_()),
        _column("dimension", pa.int32(), nullable=True),
        _column("device", pa.string(), nullable=True),
        _column("library_versions", pa.map_(pa.string(), pa.string()), nullable=True),
        _column("n_texts", pa.int64()),
        _column("n_over_max_length", pa.int64()),
    ]
)

# One row per pair, extractor, field and scorer. `scorer` is a pair scorer, or an encoder for its cosine.
PAIR_SCORES = pa.schema(
    [
        _column("argument_id", pa.string()),
        _column("nearest_argument_id", pa.string()),
        _column("extractor", pa.string()),
        _column("field", pa.string()),
        _column("scorer", pa.string()),
        _column("score", pa.float64()),
    ]
)

# One row per pair scorer, as it was run.
SCORERS = pa.schema(
    [
        _column("scorer", pa.string()),
        _column("backend", pa.string()),
        _column("model", pa.string()),
        _column("revision", pa.string()),
        _column("resolved_revision", pa.string()),
        _column("max_length", pa.int32(), nullable=True),
        _column("batch_size", pa.int32(), nullable=True),
        _column("device", pa.string()),
        _column("library_versions", pa.map_(pa.string(), pa.string())),
    ]
)


def vector_part(dimension: int) -> pa.Schema:
    """One row per text of a part of the vector store. The schema's metadata says how the part was encoded."""
    return pa.schema(
        [
            _column("text_sha256", pa.binary(32)),
            _column("vector", pa.list_(_column("element", pa.float32()), dimension)),
            _column("n_tokens", pa.int32()),
            _column("over_max_length", pa.bool_()),
        ]
    )
