"""Reading the published warehouse: one short-lived connection a query, one snapshot a page run.

`<lake>/warehouse.duckdb` is a symbolic link to an immutable file. A page run resolves the link once and asks all its
questions of that file, so a build published in the meantime never mixes with the one on the screen. No connection
outlives its query: an open dashboard therefore never holds a lock, and never serves a build that was replaced.
"""

import functools
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import duckdb
import streamlit as st

from dagster_project.lake import resolve_lake

QUERIES = Path(__file__).parent / "queries"

# A page's query is an aggregate or has a limit of its own. More rows than this mean that the SQL is at fault.
MAX_ROWS = 20_000
PAGE_SECONDS = 30.0

_SNAPSHOT_KEY = "_snapshot"
_PARAMETER = re.compile(r"\$([a-z_]+)")

_CONFIGURATION = {
    "memory_limit": "2GB",
    # Spilling would write beside the working directory; a dashboard writes nothing.
    "max_temp_directory_size": "0KiB",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    # Secrets that the person keeps for other databases are none of a page's business.
    "allow_persistent_secrets": "false",
}
# What is written to a file says the same whoever writes it: the last digit of a sum depends on how threads share the
# work, and a moment's text on where the machine stands.
_REPEATABLE = ("set threads = 1", "set timezone = 'UTC'")
_LOCKS = (
    "set enable_external_access = false",
    # Without external access DuckDB still lets SQL read the attached file's own bytes; this closes that door as well.
    "set disabled_filesystems = 'LocalFileSystem'",
    "set lock_configuration = true",
)

Value = str | int | float | bool | None | list[str]


class WarehouseError(Exception):
    """Something about the warehouse that the reader of a page can act on; the message says how."""


class MissingWarehouseError(WarehouseError):
    """No warehouse is published in the lake."""


class UnreadableWarehouseError(WarehouseError):
    """The published file is no DuckDB database that this version can open."""


class OutdatedWarehouseError(WarehouseError):
    """The warehouse lacks a table or a column that a page reads."""


class SlowQueryError(WarehouseError):
    """A query ran past its time limit and was interrupted."""


class SnapshotGoneError(Exception):
    """The pinned file was removed because newer builds were published; the page run starts again on the newest one."""


@dataclass(frozen=True)
class Snapshot:
    """One published file. `identity` changes whenever the file behind the path does."""

    path: Path
    identity: str


@dataclass(frozen=True)
class Answer:
    """The rows of one query, with the SQL that yields them when pasted at any DuckDB prompt on the warehouse."""

    name: str
    sql: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool = False

    def records(self) -> list[dict[str, Any]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def first(self) -> dict[str, Any] | None:
        return self.records()[0] if self.rows else None

    def column(self, name: str) -> list[Any]:
        index = self.columns.index(name)
        return [row[index] for row in self.rows]


class Ask(Protocol):
    """Asks one snapshot: the answer of `queries/<name>.sql`."""

    def __call__(self, name: str, **parameters: Value) -> Answer: ...


def current_snapshot() -> Snapshot:
    """The newest published file. Raises MissingWarehouseError when there is none."""
    link = resolve_lake().warehouse
    try:
        path = link.resolve(strict=True)
        stat = path.stat()
    except FileNotFoundError:
        raise MissingWarehouseError(
            f"There is no warehouse at {link}. Run `make demo` to build one from the sample archive, "
            "or set REPRISE_LAKE to the lake that holds yours."
        ) from None
    return Snapshot(path, f"{path}:{stat.st_mtime_ns}:{stat.st_size}")


def is_published() -> bool:
    """Whether the lake holds a warehouse."""
    return resolve_lake().warehouse.exists()


def newest_ledger() -> Snapshot:
    """Where the marts of calls and runs are newest: what a run shows while it goes on, else the published file."""
    shown = resolve_lake().live_ledger
    if shown is None:
        return current_snapshot()
    stat = shown.stat()
    return Snapshot(shown, f"{shown}:{stat.st_mtime_ns}:{stat.st_size}")


def pin(snapshot: Snapshot) -> None:
    """Make `snapshot` the one that every `query` of this page run reads."""
    st.session_state[_SNAPSHOT_KEY] = snapshot


def pinned() -> Snapshot:
    return st.session_state[_SNAPSHOT_KEY]


def query(name: str, **parameters: Value) -> Answer:
    """The answer of `queries/<name>.sql` on the pinned snapshot, from the cache when it was asked before.

    Raises OutdatedWarehouseError, UnreadableWarehouseError, SlowQueryError or SnapshotGoneError.
    """
    snapshot = pinned()
    return _cached()(snapshot.identity, snapshot, name, read_query(name), parameters)


def asker(snapshot: Snapshot) -> Ask:
    """A `query` that asks this snapshot, for whoever is no page: to the last digit the same answer on any machine.

    Raises what `query` does.
    """

    def ask(name: str, **parameters: Value) -> Answer:
        return _answer(snapshot, name, read_query(name), parameters, _REPEATABLE)

    return ask


def read_query(name: str) -> str:
    """The text of a query file."""
    return (QUERIES / f"{name}.sql").read_text(encoding="utf-8").strip()


@functools.cache
def _cached() -> Callable[..., Answer]:
    """The cache of answers, made when a page first asks: whoever is no page has no use for Streamlit's runtime."""
    return st.cache_data(show_spinner=False, max_entries=1000)(_cached_answer)


def _cached_answer(identity: str, _snapshot: Snapshot, name: str, sql: str, parameters: Mapping[str, Value]) -> Answer:
    return _answer(_snapshot, name, sql, parameters)


def _answer(
    snapshot: Snapshot,
    name: str,
    sql: str,
    parameters: Mapping[str, Value],
    settings: Sequence[str] = (),
) -> Answer:
    try:
        columns, rows = execute(
            snapshot, sql, parameters, seconds=PAGE_SECONDS, max_rows=MAX_ROWS + 1, settings=settings
        )
    except (duckdb.CatalogException, duckdb.BinderException) as error:
        raise OutdatedWarehouseError(
            "This warehouse lacks what the page reads; it was built by another version of Reprise. "
            f"Run `make demo`, or materialize your study again. DuckDB says: {error}"
        ) from error
    if len(rows) > MAX_ROWS:
        raise ValueError(f"queries/{name}.sql returns more than {MAX_ROWS} rows: aggregate in SQL or add a limit.")
    return Answer(name, with_literals(sql, parameters), columns, rows)


def execute(
    snapshot: Snapshot,
    sql: str,
    parameters: Mapping[str, Value],
    *,
    seconds: float,
    max_rows: int,
    settings: Sequence[str] = (),
) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]:
    """Column names and at most `max_rows` rows of `sql`, run read-only; SlowQueryError after `seconds`."""
    with open_read_only(snapshot, settings) as connection:
        alarm = threading.Timer(seconds, connection.interrupt)
        alarm.start()
        try:
            cursor = connection.execute(sql, dict(parameters) or None)
            columns = tuple(name for name, *_ in cursor.description or ())
            return columns, tuple(cursor.fetchmany(max_rows))
        except duckdb.InterruptException:
            raise SlowQueryError(f"The query ran longer than {seconds:g} seconds and was stopped.") from None
        finally:
            alarm.cancel()


@contextmanager
def open_read_only(snapshot: Snapshot, settings: Sequence[str] = ()) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that sees `snapshot` and nothing else: read-only, no files, no extensions, configuration locked.

    The file is attached to a private in-memory instance. Connections to one path share an instance and its settings
    within a process, so opening the path itself would let concurrent readers meet each other's configuration.
    `settings` are statements that come before those that close the connection.
    """
    with duckdb.connect(":memory:", config=_CONFIGURATION) as connection:
        try:
            connection.execute(f"attach {literal(str(snapshot.path))} as warehouse (read_only)")
        except duckdb.Error as error:
            if not snapshot.path.exists():
                raise SnapshotGoneError(str(snapshot.path)) from None
            raise UnreadableWarehouseError(
                f"{snapshot.path} cannot be opened as a DuckDB database: {error} "
                "Publish again by materializing the study, or run `make demo`."
            ) from error
        connection.execute("use warehouse")
        for setting in (*settings, *_LOCKS):
            connection.execute(setting)
        yield connection


def with_literals(sql: str, parameters: Mapping[str, Value]) -> str:
    """`sql` with each `$name` replaced by its value as an SQL literal."""
    return _PARAMETER.sub(lambda match: literal(parameters[match[1]]), sql)


def literal(value: Value) -> str:
    """`value` as DuckDB SQL. A quote inside a string is doubled, the only escape that standard strings know."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(literal(item) for item in value)}]::varchar[]"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    # A number with a point would be a DECIMAL in SQL, and round differently from the bound value.
    return f"{value!r}::double" if isinstance(value, float) else str(value)
