"""The ledger and the debates in it as Parquet tables that people can query, written without disturbing a run."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from ingest.parquet import RowWriter
from ingest.run.debate import Debate
from ingest.run.ledger import read_ledger

_TIME = pa.timestamp("us", tz="UTC")
_MONEY = pa.decimal128(18, 9)


def _field(name: str, kind: pa.DataType, nullable: bool = True) -> pa.Field:
    return pa.field(name, kind, nullable=nullable)


RUNS_SCHEMA = pa.schema(
    [
        _field("run_id", pa.int64(), nullable=False),
        _field("study", pa.string()),
        _field("purpose", pa.string(), nullable=False),
        _field("started_at", _TIME, nullable=False),
        _field("finished_at", _TIME),
        _field("ending", pa.string()),
        _field("spending_cap_usd", _MONEY),
        _field("litellm_version", pa.string()),
    ]
)
CALLS_SCHEMA = pa.schema(
    [
        _field("attempt_id", pa.int64(), nullable=False),
        _field("run_id", pa.int64(), nullable=False),
        _field("key", pa.string(), nullable=False),
        _field("attempt", pa.int32(), nullable=False),
        _field("stage", pa.string(), nullable=False),
        _field("provider", pa.string(), nullable=False),
        _field("endpoint", pa.string()),
        _field("agent", pa.string(), nullable=False),
        _field("model_requested", pa.string(), nullable=False),
        _field("model_reported", pa.string()),
        _field("repeat", pa.int32(), nullable=False),
        _field("session_id", pa.string()),
        _field("turn_index", pa.int32()),
        _field("subject", pa.string(), nullable=False),
        _field("started_at", _TIME, nullable=False),
        _field("finished_at", _TIME),
        _field("latency_s", pa.float64()),
        _field("outcome", pa.string(), nullable=False),
        _field("code", pa.string()),
        _field("reason", pa.string()),
        _field("status", pa.int32()),
        _field("finish_reason", pa.string()),
        _field("input_tokens", pa.int64()),
        _field("output_tokens", pa.int64()),
        _field("cached_input_tokens", pa.int64()),
        _field("cache_write_tokens", pa.int64()),
        _field("reasoning_tokens", pa.int64()),
        _field("may_be_paid", pa.bool_(), nullable=False),
        _field("cost_usd", _MONEY),
        _field("worst_case_usd", _MONEY),
        _field("request_sha256", pa.string()),
        _field("response_sha256", pa.string()),
        _field("response_headers", pa.string()),
        _field("failed_response", pa.string()),
    ]
)

DEBATES_SCHEMA = pa.schema(
    [
        _field("phase", pa.string(), nullable=False),
        _field("session_id", pa.string(), nullable=False),
        _field("motion_id", pa.string(), nullable=False),
        _field("language", pa.string(), nullable=False),
        _field("condition", pa.string(), nullable=False),
        _field("repeat", pa.int32(), nullable=False),
        _field("status", pa.string(), nullable=False),
        _field("n_turns", pa.int32(), nullable=False),
        _field("code", pa.string()),
        _field("reason", pa.string()),
    ]
)

_RUNS = "select run_id, study, purpose, started_at, finished_at, ending, spending_cap, litellm_version from runs"
_CALLS = """
    select attempt_id, run_id, key, try, stage, provider, endpoint, agent, model, model_reported, repeat, session_id,
        turn_index, subject, started_at, finished_at, latency_s, coalesce(outcome, 'in_flight'), code, reason, status,
        finish_reason, input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens,
        may_be_paid, cost, worst_case, request_sha256, response_sha256, headers,
        case when outcome not in ('answered', 'set_aside') then body end
    from attempts left join bodies on bodies.sha256 = attempts.response_sha256
    order by attempt_id
"""
# The contract's precision; a price of a single token has more digits than anybody is billed.
_CENTS = Decimal("0.000000001")


def export_ledger(ledger: Path, directory: Path) -> tuple[int, int]:
    """Writes `calls.parquet` (one row per attempt) and `runs.parquet` (one row per run) and returns their row counts.

    `failed_response` is the raw body of an attempt without an answer, undecodable bytes replaced; the bodies of answers
    stay in the ledger. Unknown costs are NULL. The ledger is read in one transaction and may be in use.

    Raises LedgerError when there is no ledger.
    """
    directory.mkdir(parents=True, exist_ok=True)
    db = read_ledger(ledger)
    try:
        # Both tables from one state, however the run goes on.
        db.execute("begin")
        counts = []
        for name, query, schema in (("calls", _CALLS, CALLS_SCHEMA), ("runs", _RUNS, RUNS_SCHEMA)):
            count = 0
            with RowWriter(directory / f"{name}.parquet", schema) as writer:
                for row in db.execute(query):
                    values = {field.name: _typed(field.type, value) for field, value in zip(schema, row, strict=True)}
                    writer.add(values, size=2_000)
                    count += 1
            counts.append(count)
    finally:
        db.close()
    return counts[0], counts[1]


_ASKED = ("session_id", "motion_id", "language", "condition", "repeat")


def export_debates(debates: Iterable[tuple[str, Debate]], directory: Path) -> int:
    """Writes `debates.parquet`, one row per planned debate and phase with what has become of it; returns how many."""
    directory.mkdir(parents=True, exist_ok=True)
    count = 0
    with RowWriter(directory / "debates.parquet", DEBATES_SCHEMA) as writer:
        for phase, debate in debates:
            planned = debate.planned
            row = {
                name: getattr(planned, name) for name in ("session_id", "motion_id", "language", "condition", "repeat")
            }
            became = {
                "status": debate.status,
                "n_turns": len(debate.turns),
                "code": debate.code,
                "reason": debate.reason,
            }
            writer.add({"phase": phase} | row | became, size=300)
            count += 1
    return count


def write_no_ledger(directory: Path) -> None:
    """The three tables without a row: nothing was generated here."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, schema in (("calls", CALLS_SCHEMA), ("runs", RUNS_SCHEMA), ("debates", DEBATES_SCHEMA)):
        with RowWriter(directory / f"{name}.parquet", schema):
            pass


def _typed(kind: pa.DataType, value: Any) -> Any:
    if value is None:
        return None
    if pa.types.is_timestamp(kind):
        return datetime.fromisoformat(value)
    if pa.types.is_decimal(kind):
        return Decimal(value).quantize(_CENTS)
    if pa.types.is_boolean(kind):
        return bool(value)
    return value.decode(errors="replace") if isinstance(value, bytes) else value
