"""The ledger: one durable SQLite row per attempt, from which every answer and every turn is derived.

A row is committed just before its request leaves, with the request as it goes over the wire, and completed before its
answer is used. A process that dies in between leaves the row open; the next one marks it `interrupted`: it may have
been paid, and its cost stays unknown. SQLite runs in WAL mode, so that others read while a run writes.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import queue
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from ingest.errors import IngestError
from ingest.run.call import Answer, CallRequest, Usage
from ingest.run.exchange import Sent

LAYOUT = 1

_SCHEMA = """
create table runs (
    run_id integer primary key,
    study text,
    purpose text not null,
    started_at text not null,
    finished_at text,
    ending text,
    spending_cap text,
    litellm_version text
) strict;
create table bodies (sha256 text primary key, body blob not null) strict, without rowid;
create table attempts (
    attempt_id integer primary key,
    run_id integer not null references runs,
    key text not null,
    try integer not null,
    stage text not null,
    provider text not null,
    endpoint text,
    agent text not null,
    model text not null,
    repeat integer not null,
    session_id text,
    turn_index integer,
    subject text not null,
    worst_case text,
    started_at text not null,
    url text,
    request_sha256 text references bodies,
    may_be_paid integer not null,
    finished_at text,
    latency_s real,
    outcome text,
    code text,
    reason text,
    status integer,
    headers text,
    response_sha256 text references bodies,
    model_reported text,
    finish_reason text,
    text text,
    input_tokens integer,
    output_tokens integer,
    cached_input_tokens integer,
    cache_write_tokens integer,
    reasoning_tokens integer,
    cost text
) strict;
create unique index one_answer_a_key on attempts (key) where outcome = 'answered';
create index attempts_by_session on attempts (session_id, turn_index);
create index open_attempts on attempts (run_id) where outcome is null;
"""

Outcome = Literal["answered", "transient", "item_failed", "halted", "interrupted", "set_aside"]


class LedgerError(IngestError):
    """The ledger cannot be opened or written. `str()` names the file, the problem and the remedy."""


@dataclass(frozen=True)
class Completion:
    """What an attempt came to; what the provider did not say is None.

    `may_be_paid` says that the provider may charge for it: it answered, or nobody can know whether it did.
    """

    outcome: Outcome
    may_be_paid: bool
    code: str | None = None
    reason: str | None = None
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    latency_s: float | None = None
    model_reported: str | None = None
    finish_reason: str | None = None
    text: str | None = None
    usage: Usage = field(default_factory=Usage)
    cost: Decimal | None = None


@dataclass(frozen=True)
class Spending:
    """US dollars that all attempts cost: `known`, and `at_most` for those whose cost is unknown.

    `unbounded` counts attempts that may have cost something nobody can bound: no price was known.
    """

    known: Decimal
    at_most: Decimal
    unbounded: int


def utc_now() -> str:
    """The time as an ISO 8601 string in UTC, with microseconds."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


class Ledger:
    """A ledger opened for writing, by one process at a time. Its methods may be called from several threads."""

    def __init__(self, path: Path) -> None:
        """Opens or creates the ledger and marks the attempts that a killed process left open.

        Raises LedgerError when another process holds it, or when the file is something else.
        """
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = _hold(path)
        try:
            with _told(path):
                self._writer = _connect(path)
                _prepare(self._writer, path)
                self._reader = _connect(path)
        except BaseException:
            os.close(self._lock)
            raise
        self._reading = threading.Lock()
        self._commands: queue.SimpleQueue[tuple[Callable[[sqlite3.Connection], Any], Future[Any]] | None] = (
            queue.SimpleQueue()
        )
        self._thread = threading.Thread(target=self._write, name="ledger", daemon=True)
        self._thread.start()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Commits what is waiting and lets the next process in."""
        self._commands.put(None)
        self._thread.join()
        self._reader.close()
        self._writer.close()
        os.close(self._lock)

    def begin_run(
        self,
        purpose: str,
        *,
        study: str | None = None,
        spending_cap: Decimal | None = None,
        litellm_version: str | None = None,
    ) -> int:
        """Opens a run, the period in which one process makes calls, and returns its id."""
        row = (study, purpose, utc_now(), None if spending_cap is None else str(spending_cap), litellm_version)
        statement = (
            "insert into runs (study, purpose, started_at, spending_cap, litellm_version) values (?, ?, ?, ?, ?)"
        )
        return self._do(lambda db: db.execute(statement, row).lastrowid)

    def end_run(self, run_id: int, ending: str) -> None:
        """Closes a run; `ending` says how it ended in a sentence."""
        self._do(
            lambda db: db.execute(
                "update runs set finished_at = ?, ending = ? where run_id = ?", (utc_now(), ending, run_id)
            )
        )

    def begin(
        self, run_id: int, request: CallRequest, attempt: int, sent: Sent | None, worst_case: Decimal | None
    ) -> int:
        """Records an attempt that is about to leave and returns its id once durable; without `sent` it never left."""
        provider = request.agent.provider
        row = {
            "run_id": run_id,
            "key": request.key,
            "try": attempt,
            "stage": request.stage,
            "provider": provider.name,
            "endpoint": provider.endpoint,
            "agent": request.agent.name,
            "model": request.agent.model,
            "repeat": request.repeat,
            "session_id": request.subject.get("session_id"),
            "turn_index": request.subject.get("turn_index"),
            "subject": json.dumps(dict(request.subject), ensure_ascii=False, sort_keys=True),
            "worst_case": None if worst_case is None else str(worst_case),
            "started_at": utc_now(),
            "url": None if sent is None else sent.url,
            "request_sha256": None if sent is None else _sha256(sent.body),
            "may_be_paid": int(sent is not None),
        }

        def insert(db: sqlite3.Connection) -> int | None:
            if sent is not None:
                _store(db, sent.body)
            return db.execute(_INSERT_ATTEMPT, row).lastrowid

        return self._do(insert)

    def complete(self, attempt_id: int, completion: Completion) -> str:
        """Records what an attempt came to and returns the moment it did, once it is durable."""
        row = {
            "attempt_id": attempt_id,
            "finished_at": utc_now(),
            "latency_s": completion.latency_s,
            "outcome": completion.outcome,
            "may_be_paid": int(completion.may_be_paid),
            "code": completion.code,
            "reason": completion.reason,
            "status": completion.status,
            "headers": json.dumps(dict(completion.headers), sort_keys=True),
            "response_sha256": None if completion.body is None else _sha256(completion.body),
            "model_reported": completion.model_reported,
            "finish_reason": completion.finish_reason,
            "text": completion.text,
            **vars(completion.usage),
            "cost": None if completion.cost is None else str(completion.cost),
        }

        def update(db: sqlite3.Connection) -> None:
            if completion.body is not None:
                _store(db, completion.body)
            db.execute(_COMPLETE_ATTEMPT, row)

        self._do(update)
        return row["finished_at"]

    def answer(self, key: str) -> Answer | None:
        """The answer that a key has, None when it has none."""
        with self._reading, _told(self.path):
            return answer_of(self._reader, key)

    def last_failure(self, session_id: str, turn_index: int) -> tuple[str, str] | None:
        """Code and reason of the last attempt at a turn, None when there was none or it was answered."""
        with self._reading, _told(self.path):
            return last_failure_of(self._reader, session_id, turn_index)

    def started_at(self, attempt_id: int) -> str:
        """When an attempt left."""
        with self._reading, _told(self.path):
            return self._reader.execute(
                "select started_at from attempts where attempt_id = ?", (attempt_id,)
            ).fetchone()[0]

    def set_aside(self, session_id: str, reason: str) -> int:
        """Takes a session's answers out of use, so that it is debated anew; returns how many (rows stay)."""
        statement = (
            "update attempts set outcome = 'set_aside', code = 'restarted', reason = ?"
            " where session_id = ? and stage = 'debate' and outcome = 'answered'"
        )
        return self._do(lambda db: db.execute(statement, (reason, session_id)).rowcount)

    def spending(self) -> Spending:
        """What all attempts of all runs cost. Attempts in flight count at their worst case."""
        with self._reading, _told(self.path):
            rows = self._reader.execute("select cost, worst_case from attempts where may_be_paid").fetchall()
        return Spending(
            known=sum((Decimal(cost) for cost, _ in rows if cost is not None), Decimal(0)),
            at_most=sum((Decimal(worst) for cost, worst in rows if cost is None and worst is not None), Decimal(0)),
            unbounded=sum(cost is None and worst is None for cost, worst in rows),
        )

    def _do(self, command: Callable[[sqlite3.Connection], Any]) -> Any:
        done: Future[Any] = Future()
        self._commands.put((command, done))
        return done.result()

    def _write(self) -> None:
        """Commits whatever is waiting as one transaction: one disk flush serves every thread that waits for it."""
        open_ = True
        while open_:
            batch = [self._commands.get()]
            while not self._commands.empty():
                batch.append(self._commands.get())
            open_ = None not in batch
            commands = [item for item in batch if item is not None]
            try:
                results = self._commit([command for command, _ in commands])
            except sqlite3.Error:
                # One bad command must not take the others with it: each gets its own transaction and its own error.
                for command, done in commands:
                    try:
                        done.set_result(self._commit([command])[0])
                    except sqlite3.Error as error:
                        done.set_exception(_trouble(self.path, error))
            else:
                for (_, done), result in zip(commands, results, strict=True):
                    done.set_result(result)

    def _commit(self, commands: list[Callable[[sqlite3.Connection], Any]]) -> list[Any]:
        self._writer.execute("begin immediate")
        try:
            results = [command(self._writer) for command in commands]
            self._writer.execute("commit")
        except sqlite3.Error:
            if self._writer.in_transaction:
                self._writer.execute("rollback")
            raise
        return results


def read_ledger(path: Path) -> sqlite3.Connection:
    """A read-only connection that disturbs no run. Raises LedgerError when there is no ledger."""
    if not path.is_file():
        raise LedgerError(f"{path} does not exist. Start a run first; it creates the ledger.")
    with _told(path):
        db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False)
        _check_layout(db, path)
    return db


class LedgerReader:
    """A ledger opened to look at, while a run may be writing it. One thread at a time.

    Raises LedgerError when there is no ledger.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = read_ledger(path)

    def __enter__(self) -> LedgerReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    def answer(self, key: str) -> Answer | None:
        """See `Ledger.answer`."""
        with _told(self.path):
            return answer_of(self._db, key)

    def last_failure(self, session_id: str, turn_index: int) -> tuple[str, str] | None:
        """See `Ledger.last_failure`."""
        with _told(self.path):
            return last_failure_of(self._db, session_id, turn_index)


def last_failure_of(db: sqlite3.Connection, session_id: str, turn_index: int) -> tuple[str, str] | None:
    """Code and reason of the last attempt at a turn in an open ledger, None when there was none or it was answered."""
    row = db.execute(_LAST_ATTEMPT, (session_id, turn_index)).fetchone()
    return None if row is None or row[0] in ("answered", "set_aside") else (row[1], row[2])


def answer_of(db: sqlite3.Connection, key: str) -> Answer | None:
    """The answer that a key has in an open ledger, None when it has none."""
    row = db.execute(_ANSWER, (key,)).fetchone()
    if row is None:
        return None
    attempt_id, text, finish_reason, model_reported, cost, created_at, *tokens = row
    return Answer(
        text=text,
        finish_reason=finish_reason,
        model_reported=model_reported,
        usage=Usage(*tokens),
        cost=None if cost is None else Decimal(cost),
        key=key,
        attempt_id=attempt_id,
        created_at=created_at,
    )


_ATTEMPT_COLUMNS = (
    "run_id",
    "key",
    "try",
    "stage",
    "provider",
    "endpoint",
    "agent",
    "model",
    "repeat",
    "session_id",
    "turn_index",
    "subject",
    "worst_case",
    "started_at",
    "url",
    "request_sha256",
    "may_be_paid",
)
_COMPLETION_COLUMNS = (
    "finished_at",
    "latency_s",
    "outcome",
    "may_be_paid",
    "code",
    "reason",
    "status",
    "headers",
    "response_sha256",
    "model_reported",
    "finish_reason",
    "text",
    "input_tokens",
    "output_tokens",
    "cached_input_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "cost",
)
_INSERT_ATTEMPT = "insert into attempts ({}) values ({})".format(
    ", ".join(_ATTEMPT_COLUMNS), ", ".join(f":{name}" for name in _ATTEMPT_COLUMNS)
)
_COMPLETE_ATTEMPT = "update attempts set {} where attempt_id = :attempt_id".format(
    ", ".join(f"{name} = :{name}" for name in _COMPLETION_COLUMNS)
)
_LAST_ATTEMPT = """
    select outcome, code, reason from attempts
    where session_id = ? and turn_index = ? and stage = 'debate' and outcome is not null
    order by attempt_id desc limit 1
"""
_ANSWER = """
    select attempt_id, text, finish_reason, model_reported, cost, finished_at,
        input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens
    from attempts where key = ? and outcome = 'answered'
"""


def _sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _store(db: sqlite3.Connection, body: bytes) -> None:
    db.execute("insert or ignore into bodies values (?, ?)", (_sha256(body), body))


def _hold(path: Path) -> int:
    """Locks the ledger for this process; the lock ends with the process, however it ends."""
    lock = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise LedgerError(f"{path} is in use by another run. Wait for it to end, or stop it.") from None
    return lock


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
    db.execute("pragma journal_mode = wal")
    db.execute("pragma synchronous = full")
    return db


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    if not db.execute("select count(*) from sqlite_schema").fetchone()[0]:
        with closing(db.cursor()) as cursor:
            cursor.executescript(f"begin; {_SCHEMA} pragma user_version = {LAYOUT}; commit;")
    _check_layout(db, path)
    now = utc_now()
    db.execute("begin immediate")
    db.execute(
        "update attempts set outcome = 'interrupted', code = 'interrupted',"
        " reason = 'The run ended while this call was in flight; it may have been paid.' where outcome is null"
    )
    db.execute("update runs set finished_at = ?, ending = 'interrupted' where finished_at is null", (now,))
    db.execute("commit")


def _check_layout(db: sqlite3.Connection, path: Path) -> None:
    layout = db.execute("pragma user_version").fetchone()[0]
    if layout != LAYOUT:
        raise LedgerError(
            f"{path} has layout {layout}, this version reads layout {LAYOUT}. "
            "Use the version of Reprise that wrote it, or another file."
        )


def _trouble(path: Path, error: sqlite3.Error) -> LedgerError:
    return LedgerError(
        f"{path} cannot be read or written ({error}). Check the disk and the file; what is not recorded is not used."
    )


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turns SQLite's errors into ones that name the file."""
    try:
        yield
    except sqlite3.Error as error:
        raise _trouble(path, error) from error
