"""Write the nearest earlier argument of every argument of a study, for every encoder and field."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from embeddings.arguments import check_fields, count_arguments, read_sessions, texts_of
from embeddings.fields import text_key
from embeddings.fixed_pool import POOL_SIZES
from embeddings.max_prior import max_prior
from embeddings.schemas import ENCODERS, PAIRS
from embeddings.spec import Provenance
from embeddings.store import KEY_TYPE, VectorStore

# Rows of `arguments.parquet` in memory at a time, rounded up to whole sessions: one row group a field.
ROWS_PER_BLOCK = 4096


class MissingVectorsError(LookupError):
    """Texts of the arguments have no vector in the store yet."""


@dataclass(frozen=True)
class EncoderPairs:
    """What was written for one encoder."""

    encoder: str
    path: Path
    pairs: int
    without_prior_pool: int
    over_max_length: int
    texts: int


@dataclass(frozen=True)
class PairsReport:
    """What one call of `write_max_prior_pairs` wrote."""

    encoders: tuple[EncoderPairs, ...]
    arguments: int
    seconds: float


def write_max_prior_pairs(
    arguments_path: Path,
    stores: Mapping[str, VectorStore],
    fields: Sequence[str],
    dest: Path,
    progress: Callable[[int, int], None] | None = None,
) -> PairsReport:
    """Writes `pairs-<encoder>.parquet` for every encoder, and `encoders.parquet`, into the directory `dest`.

    A prior pool never mixes sessions, extractors, encoders or fields. Sessions are read and written in blocks, so that
    memory does not grow with their number; the same input gives the same bytes.

    Args:
        arguments_path: `arguments.parquet`, the rows of a session together.
        stores: the filled store of each encoder, by the encoder's name.
        progress: called with (rows done, rows to do), a row counted once per encoder.

    Raises:
        ArgumentsError: the file is not what its contract says.
        MissingVectorsError: a text has no vector.
        StoreError: a part of a store is damaged.
    """
    check_fields(fields)
    for name, store in stores.items():
        if name != store.spec.name:
            raise ValueError(f"the store given for encoder {name!r} belongs to {store.spec.name!r}")
    started = time.monotonic()
    arguments = count_arguments(arguments_path)
    dest.mkdir(parents=True, exist_ok=True)

    reports, records = [], []
    for number, name in enumerate(sorted(stores)):

        def report_rows(rows: int, before: int = number * arguments) -> None:
            if progress:
                progress(before + rows, len(stores) * arguments)

        report, record = _write_encoder(arguments_path, stores[name], fields, dest, report_rows)
        reports.append(report)
        records.append(record)
    pq.write_table(pa.Table.from_pylist(records, schema=ENCODERS), dest / "encoders.parquet")
    return PairsReport(tuple(reports), arguments, time.monotonic() - started)


def _write_encoder(
    arguments_path: Path,
    store: VectorStore,
    fields: Sequence[str],
    dest: Path,
    report_rows: Callable[[int], None],
) -> tuple[EncoderPairs, dict]:
    path = dest / f"pairs-{store.spec.name}.parquet"
    used = np.zeros(len(store), dtype=np.bool_)
    rows = pairs = without_pool = over_max_length = 0
    with pq.ParquetWriter(path, PAIRS) as writer:
        for table in read_sessions(arguments_path, ROWS_PER_BLOCK):
            for field in fields:
                positions = find_vectors(table, store, field, arguments_path)
                used[positions] = True
                block = _pairs_of_block(table, store, field, positions)
                writer.write_table(block)
                pairs += block.num_rows
                without_pool += block["similarity"].null_count
                over_max_length += int(store.over_max_length(positions).sum())
            rows += table.num_rows
            report_rows(rows)
    used_positions = np.flatnonzero(used)
    report = EncoderPairs(store.spec.name, path, pairs, without_pool, over_max_length, len(used_positions))
    return report, _encoder_record(store, used_positions)


def find_vectors(table: pa.Table, store: VectorStore, field: str, arguments_path: Path) -> np.ndarray:
    """Where the store holds the vector of each argument's text.

    Raises:
        MissingVectorsError: a text has no vector.
    """
    texts = texts_of(table, field, arguments_path)
    positions = store.find(np.array([text_key(text) for text in texts], dtype=KEY_TYPE))
    missing = np.flatnonzero(positions < 0)
    if missing.size:
        argument = table["argument_id"][int(missing[0])].as_py()
        raise MissingVectorsError(
            f"{arguments_path}: field {field} of {missing.size} of {len(texts)} arguments read here "
            f"(first: {argument}) has no vector of encoder {store.spec.name!r} in {store.path}; encode them first: "
            "embeddings.encode.encode_arguments, or materialize the vectors of this encoder"
        )
    return positions


def _pairs_of_block(table: pa.Table, store: VectorStore, field: str, positions: np.ndarray) -> pa.Table:
    pool = _pool_numbers(table)
    result = max_prior(store.vectors(positions), pool, table["turn_index"].to_numpy())
    no_pool = result.nearest < 0
    ids = table["argument_id"].combine_chunks()
    n = table.num_rows
    columns = {
        "argument_id": ids,
        "extractor": table["extractor"],
        "encoder": pa.repeat(store.spec.name, n),
        "field": pa.repeat(field, n),
        "session_id": table["session_id"],
        "turn_index": table["turn_index"],
        "nearest_argument_id": ids.take(pa.array(result.nearest, mask=no_pool)),
        "similarity": pa.array(result.similarity, mask=no_pool),
        **{
            f"fixed_k{k}": pa.array(expected, mask=result.pool_size < k)
            for k, expected in zip(POOL_SIZES, result.fixed_pool.T, strict=True)
        },
        "prior_pool_size": pa.array(result.pool_size),
        "over_max_length": pa.array(store.over_max_length(positions)),
    }
    return pa.table(columns).cast(PAIRS)


def _pool_numbers(table: pa.Table) -> np.ndarray:
    """One number per session and extractor; rows come sorted by both."""
    session, extractor = (table[column].to_numpy() for column in ("session_id", "extractor"))
    changes = (session[1:] != session[:-1]) | (extractor[1:] != extractor[:-1])
    return np.concatenate([[0], np.cumsum(changes)])


def _encoder_record(store: VectorStore, positions: np.ndarray) -> dict:
    spec = store.spec
    provenances = store.provenances(positions)
    return {
        "encoder": spec.name,
        "encoder_key": spec.key,
        "backend": spec.backend,
        "model": spec.model,
        "revision": spec.revision,
        "resolved_revision": _all_of(provenance.resolved_revision for provenance in provenances),
        "prefix": spec.prefix,
        "dtype": spec.dtype,
        "batch_size": spec.batch_size,
        "max_length": spec.max_length,
        "normalize": spec.normalize,
        "dimension": store.dimension,
        "device": _all_of(provenance.device for provenance in provenances),
        "library_versions": _library_versions(provenances),
        "n_texts": len(positions),
        "n_over_max_length": int(store.over_max_length(positions).sum()),
    }


def _all_of(values: Iterable[str]) -> str | None:
    return ", ".join(sorted(set(values))) or None


def _library_versions(provenances: Sequence[Provenance]) -> dict[str, str] | None:
    """Each library with every version that made one of the vectors."""
    libraries = sorted({library for provenance in provenances for library in provenance.library_versions})
    return {
        library: _all_of(p.library_versions[library] for p in provenances if library in p.library_versions)
        for library in libraries
    } or None
