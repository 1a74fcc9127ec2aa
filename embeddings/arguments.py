"""The door to `arguments.parquet`: its rows in bounded portions, each argument with the text of a field."""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from embeddings.fields import FIELDS, field_text

KEY_COLUMNS = ("session_id", "extractor", "turn_index", "argument_index")
TEXT_COLUMNS = ("claim", "warrant", "evidence_or_example")
COLUMNS = ("argument_id", *KEY_COLUMNS, *TEXT_COLUMNS)
ROWS_PER_READ = 1024


class ArgumentsError(ValueError):
    """`arguments.parquet` is not what its contract says."""


def count_arguments(path: Path) -> int:
    """Rows of the file."""
    return _open(path).metadata.num_rows


def read_portions(path: Path) -> Iterator[pa.Table]:
    """The file's rows in its order, at most `ROWS_PER_READ` at a time."""
    for batch in _open(path).iter_batches(batch_size=ROWS_PER_READ, columns=list(COLUMNS)):
        yield pa.Table.from_batches([batch])


def read_sessions(path: Path, least_rows: int) -> Iterator[pa.Table]:
    """Whole sessions, at least `least_rows` rows at a time but for the last table.

    Rows of a table are sorted by session, extractor, turn_index and argument_index.

    Raises:
        ArgumentsError: the rows of a session do not lie together, or an argument is there twice.
    """
    finished: set[str] = set()
    waiting: list[pa.Table] = []
    rows = 0
    for portion in read_portions(path):
        waiting.append(portion)
        rows += portion.num_rows
        if rows < least_rows:
            continue
        table = pa.concat_tables(waiting)
        sessions = table["session_id"].to_pylist()
        complete = next((i for i in range(len(sessions), 0, -1) if sessions[i - 1] != sessions[-1]), 0)
        if complete:
            yield _sorted_sessions(table.slice(0, complete), path, finished)
        waiting, rows = [table.slice(complete)], table.num_rows - complete
    if rows:
        yield _sorted_sessions(pa.concat_tables(waiting), path, finished)


def read_chosen_sessions(path: Path, session_ids: Sequence[str]) -> pa.Table:
    """The rows of some sessions, sorted by session, extractor, turn_index and argument_index."""
    _open(path)
    table = pq.read_table(path, columns=list(COLUMNS), filters=[("session_id", "in", list(session_ids))])
    return _sorted_sessions(table, path, set())


def texts_of(table: pa.Table, field: str, path: Path) -> list[str]:
    """The text of one field for each row.

    Raises:
        ArgumentsError: an argument has no text there.
    """
    columns = (table[column].to_pylist() for column in TEXT_COLUMNS)
    texts = [field_text(*parts, field) for parts in zip(*columns, strict=True)]
    if "" in texts:
        argument = table["argument_id"][texts.index("")].as_py()
        raise ArgumentsError(f"{path}: argument {argument} has no text in field {field}; ingest drops blank claims")
    return texts


def check_fields(fields: Sequence[str]) -> None:
    """Raises ValueError for an empty list, a field that is not in `FIELDS`, or one named twice."""
    if not fields or len(set(fields)) != len(fields) or not FIELDS.keys() >= set(fields):
        raise ValueError(f"fields must be some of {', '.join(FIELDS)}, each once, not {list(fields)}")


def _open(path: Path) -> pq.ParquetFile:
    try:
        file = pq.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise ArgumentsError(f"{path} is no readable Parquet file ({error}); write the argument units again") from error
    if missing := sorted(set(COLUMNS) - set(file.schema_arrow.names)):
        raise ArgumentsError(f"{path} lacks the columns {', '.join(missing)}; write the argument units again")
    return file


def _sorted_sessions(table: pa.Table, path: Path, finished: set[str]) -> pa.Table:
    for session, _ in groupby(table["session_id"].to_pylist()):
        if session in finished:
            raise ArgumentsError(
                f"{path}: the rows of session {session} do not lie together; sort the file by session_id"
            )
        finished.add(session)
    table = table.sort_by([(column, "ascending") for column in KEY_COLUMNS]).combine_chunks()
    keys = list(zip(*(table[column].to_pylist() for column in KEY_COLUMNS), strict=True))
    for row, (key, following) in enumerate(pairwise(keys)):
        if key == following:
            raise ArgumentsError(f"{path}: argument {table['argument_id'][row].as_py()} of {key[1]} is there twice")
    return table
