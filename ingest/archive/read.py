"""Reading one part: every file into its typed table, every line that cannot be used into the rejects."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ingest.archive import records
from ingest.archive.csv_rows import read_csv
from ingest.archive.jsonl import read_jsonl
from ingest.archive.lines import Delivered, LineReader, UnreadableFile, Unusable
from ingest.archive.parts import Part
from ingest.archive.reports import FileReport, PartReport, TableCounts
from ingest.archive.schemas import ARCHIVE_SCHEMAS, FILES_SCHEMA, PART_SCHEMAS, PROVENANCE, REJECTS_SCHEMA
from ingest.errors import ArchiveError
from ingest.parquet import RowWriter

Progress = Callable[[int, int], None]

_PROVENANCE_NAMES = {column.name for column in PROVENANCE}
_RECORDS_PER_PROGRESS = 500


def read_part(part: Part, dest: Path, progress: Progress | None = None) -> PartReport:
    """Reads a part's files into `dest`: one Parquet file per table of the archive, rejects.parquet, files.parquet.

    Every table is there, empty if the part has no file for it. Records are judged on their own here; rules that need
    other records are `build_snapshot`'s. A file that cannot be read to its end contributes nothing but its reject.
    `progress` gets bytes read and bytes in all. Raises ArchiveError when a file cannot be opened.
    """
    dest.mkdir(parents=True, exist_ok=True)
    sizes = {path: _size(path) for path in part.files.values()}
    state = _PartState(part.name, sum(sizes.values()), progress)
    with (
        RowWriter(dest / "rejects.parquet", REJECTS_SCHEMA) as rejects,
        RowWriter(dest / "files.parquet", FILES_SCHEMA) as files,
    ):
        for table in ARCHIVE_SCHEMAS:
            path = part.files.get(table)
            if path is None:
                _write_empty(dest, table)
                state.tables[table] = TableCounts()
                continue
            n_records = _read_file(table, path, dest, rejects, state)
            state.done(sizes[path])
            state.files.append(FileReport(path.name, table, sizes[path], n_records))
            files.add(
                {
                    "part": part.name,
                    "file": path.name,
                    "table_name": table,
                    "bytes": sizes[path],
                    "records": n_records,
                }
            )
    return PartReport(
        part=part.name,
        files=tuple(state.files),
        tables=state.tables,
        rejects=dict(sorted(state.rejects.items())),
        unknown_fields={table: dict(sorted(counts.items())) for table, counts in state.unknown_fields.items()},
        other_files=part.other_files,
    )


@dataclass
class _PartState:
    part: str
    total_bytes: int
    progress: Progress | None
    done_bytes: int = 0
    files: list[FileReport] = field(default_factory=list)
    tables: dict[str, TableCounts] = field(default_factory=dict)
    rejects: Counter[str] = field(default_factory=Counter)
    unknown_fields: dict[str, Counter[str]] = field(default_factory=dict)

    def report(self, position: int) -> None:
        if self.progress is not None:
            self.progress(min(self.done_bytes + position, self.total_bytes), self.total_bytes)

    def done(self, size: int) -> None:
        self.done_bytes += size
        self.report(0)


def _read_file(table: str, path: Path, dest: Path, rejects: RowWriter, state: _PartState) -> int | None:
    """Reads one file; returns how many records it holds, None when it cannot be read to its end."""
    reader = LineReader(path)
    n_records: int | None = 0
    n_rows = n_rejected = 0
    unknown_fields: Counter[str] = Counter()

    def reject(line: int | None, record_id: str | None, unusable: Unusable, raw_line: str | None) -> None:
        nonlocal n_rejected
        n_rejected += 1
        state.rejects[unusable.reason] += 1
        rejects.add(
            {
                "part": state.part,
                "file": path.name,
                "line": line,
                "table_name": table,
                "record_id": record_id,
                "reason": unusable.reason,
                "detail": unusable.detail,
                "raw_line": raw_line,
            },
            len(raw_line or ""),
        )

    try:
        with RowWriter(dest / f"{table}.parquet", PART_SCHEMAS[table]) as writer:
            for n_records, delivered in enumerate(_records(table, reader), start=1):
                if n_records % _RECORDS_PER_PROGRESS == 0:
                    state.report(reader.position)
                try:
                    rows = _rows(table, delivered)
                except Unusable as unusable:
                    reject(delivered.line, _record_id(table, delivered), unusable, delivered.raw_line)
                    continue
                for row in rows:
                    if row["extra"] is not None:
                        unknown_fields.update(json.loads(row["extra"]).keys())
                    provenance = {"part": state.part, "file": path.name, "line": delivered.line}
                    stored = {"content_hash": _content_hash(table, row), "raw_line": delivered.raw_line}
                    writer.add({**row, **provenance, **stored}, 2 * delivered.size)
                n_rows += len(rows)
    except UnreadableFile as unreadable:
        reject(None, None, unreadable, None)
        _write_empty(dest, table)
        n_records, n_rows = None, 0
        unknown_fields.clear()
    state.tables[table] = TableCounts(read=n_rows + n_rejected, kept=n_rows, rejected=n_rejected)
    if unknown_fields:
        state.unknown_fields[table] = unknown_fields
    return n_records


def _records(table: str, reader: LineReader) -> Iterator[Delivered]:
    if table == "annotations":
        return read_csv(reader, records.ANNOTATION_COLUMNS)
    return read_jsonl(reader)


def _rows(table: str, delivered: Delivered) -> list[records.Row]:
    if isinstance(delivered.content, Unusable):
        raise delivered.content
    return records.rows_of(table, delivered.content)


def _record_id(table: str, delivered: Delivered) -> str | None:
    if isinstance(delivered.content, Unusable):
        return None
    return records.record_id(table, delivered.content)


def _content_hash(table: str, row: dict[str, Any]) -> bytes:
    """Equal for records with the same content, whatever their key order, place, and way of saying "no value"."""
    content = [
        sorted(value) if isinstance(value, list) else value
        for name in ARCHIVE_SCHEMAS[table].names
        if name not in _PROVENANCE_NAMES
        for value in (row[name],)
    ]
    return hashlib.blake2b(json.dumps(content).encode(), digest_size=16).digest()


def _write_empty(dest: Path, table: str) -> None:
    with RowWriter(dest / f"{table}.parquet", PART_SCHEMAS[table]):
        pass


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise ArchiveError.from_os_error(path, error) from error
