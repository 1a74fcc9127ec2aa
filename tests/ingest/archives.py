"""Small archives, written line by line, and what becomes of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from ingest.archive import PartReport, Selection, SnapshotReport, build_snapshot, find_parts, read_part
from ingest.archive.parts import KNOWN_FILES
from ingest.archive.rules import Protocol
from ingest.reference import turn_template

Rows = list[dict[str, Any]]


@dataclass
class ArchiveBuilder:
    """Collects records or raw lines by table; `write` puts them into a directory."""

    lines: dict[str, list[bytes]] = field(default_factory=dict)

    def add(self, table: str, *records: dict[str, Any] | bytes) -> None:
        for record in records:
            raw = record if isinstance(record, bytes) else json.dumps(record, ensure_ascii=False).encode()
            self.lines.setdefault(table, []).append(raw)

    def add_session(self, session_id: str, turns: range = range(1, 9), **fields: Any) -> None:
        """A complete session with its turns and extractions, except for what `fields` and `turns` say."""
        self.add("sessions", session(session_id, **fields))
        for index in turns:
            self.add("turns", turn(session_id, index))
            self.add("extractions", extraction(session_id, index))

    def write(self, directory: Path) -> Path:
        directory.mkdir(parents=True, exist_ok=True)
        for table, lines in self.lines.items():
            (directory / KNOWN_FILES[table]).write_bytes(b"".join(line + b"\n" for line in lines))
        return directory


def session(session_id: str, **fields: Any) -> dict[str, Any]:
    record = {
        "session_id": session_id,
        "motion_id": "M1",
        "motion_text": "This house would plant more trees.",
        "language": "en",
        "condition": "baseline",
        "repeat": 1,
        "role_mapping": {"pro_1": "a", "con_1": "b", "pro_2": "c", "con_2": "d"},
        "agents": {"a": "m", "b": "m", "c": "m", "d": "m"},
        "status": "complete",
    }
    return {**record, **fields}


def turn(session_id: str, turn_index: Any, **fields: Any) -> dict[str, Any]:
    record = {"session_id": session_id, "turn_index": turn_index, "text": f"Speech {turn_index} of {session_id}."}
    by_index = {template.turn_index: template for template in turn_template()}
    if type(turn_index) is int and turn_index in by_index:
        template = by_index[turn_index]
        agents = {"pro_1": "a", "con_1": "b", "pro_2": "c", "con_2": "d"}
        record |= {
            "phase": template.phase,
            "role": template.role,
            "side": template.side,
            "agent": agents[template.role],
        }
    return {**record, **fields}


def answer(*claims: str) -> str:
    units = [{"claim": claim, "warrant": "", "evidence_or_example": "", "argument_type": "causal"} for claim in claims]
    return json.dumps({"arguments": units}, ensure_ascii=False)


def extraction(session_id: str, turn_index: Any, extractor: str = "x", **fields: Any) -> dict[str, Any]:
    raw = answer(f"Claim {turn_index} of {session_id}")
    return {"session_id": session_id, "turn_index": turn_index, "extractor": extractor, "raw_response": raw, **fields}


@dataclass(frozen=True)
class Loaded:
    """A loaded archive: reports and the directory of its snapshot."""

    directory: Path
    report: SnapshotReport
    parts: list[PartReport]

    def rows(self, name: str) -> Rows:
        return pq.read_table(self.directory / f"{name}.parquet").to_pylist()

    def by_language(self, table: str) -> Rows:
        """Rows of turns or extractions over all languages, with the language of their directory."""
        rows: Rows = []
        for path in sorted((self.directory / table).glob("language=*/*.parquet")):
            language = path.parent.name.removeprefix("language=")
            rows += [{**row, "language": language} for row in pq.ParquetFile(path).read().to_pylist()]
        return rows

    def rejects(self) -> Rows:
        return self.rows("rejects")

    def reasons(self) -> set[tuple[str, str]]:
        return {(row["table_name"], row["reason"]) for row in self.rejects()}


Load = Callable[..., Loaded]


def load_into(archive: Path, work: Path, selection: Selection | None = None, protocol: Protocol = "template") -> Loaded:
    """Reads and joins an archive; checks on the way what holds for every archive."""
    parts = find_parts(archive)
    part_dirs = [work / "parts" / part.name for part in parts]
    reports = [read_part(part, directory) for part, directory in zip(parts, part_dirs, strict=True)]
    report = build_snapshot(part_dirs, work / "snapshot", selection, protocol=protocol)
    loaded = Loaded(work / "snapshot", report, reports)
    for counts in [*report.tables.values(), *(counts for part in reports for counts in part.tables.values())]:
        assert counts.read == counts.kept + counts.duplicate + counts.rejected + counts.left_out
    assert all(row["detail"].endswith(".") for row in [*loaded.rejects(), *loaded.rows("integrity")])
    assert len(loaded.rejects()) == report.n_rejects == sum(counts.rejected for counts in report.tables.values())
    assert len(loaded.rows("integrity")) == report.n_integrity
    return loaded
