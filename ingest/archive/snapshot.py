"""All parts together: the usable archive, what it leaves out, and why."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ingest import reference
from ingest.archive import expectations, rules
from ingest.archive.expectations import Finding
from ingest.archive.lines import RAW_LINE_BYTES
from ingest.archive.reports import SnapshotReport, TableCounts
from ingest.archive.rules import Judged, Protocol, ReadingRejects, Record, Selection, Verdict
from ingest.archive.schemas import (
    ARCHIVE_SCHEMAS,
    INTEGRITY_SCHEMA,
    KEYS,
    REJECTS_SCHEMA,
    REQUIRED_TABLES,
    TABLES_BY_LANGUAGE,
)
from ingest.parquet import ROWS_PER_GROUP, RowWriter

Progress = Callable[[int, int], None]

# What the rules look at beyond a record's key.
_RULE_COLUMNS = {
    "sessions": ("motion_id", "language", "condition", "repeat", "role_mapping", "status", "extra"),
    "turns": ("phase", "role", "side", "agent"),
}
_BATCH_ROWS = 4096


def build_snapshot(
    part_dirs: Sequence[Path],
    dest: Path,
    selection: Selection | None = None,
    *,
    protocol: Protocol = "template",
    progress: Progress | None = None,
) -> SnapshotReport:
    """Brings the directories that `read_part` wrote together in `dest`, as the tables of `ARCHIVE_SCHEMAS`.

    Also writes rejects.parquet (those of the reading and those of the rules that need several records) and
    integrity.parquet. With the protocol `template` a session has the eight turns of `ingest.reference`; with `free` its
    turns are whatever was delivered. Rows are ordered by motion, language, condition, repeat, session, turn, extractor;
    of identical copies the first is kept (by part, then line). The same input gives the same bytes. `progress` gets
    records done and records in all.
    """
    languages = frozenset(language.language for language in reference.languages())
    template = reference.turn_template() if protocol == "template" else ()
    selection = selection or Selection()
    dest.mkdir(parents=True, exist_ok=True)
    part_dirs = sorted(part_dirs, key=_part_name)

    records = {table: _records(part_dirs, table) for table in ARCHIVE_SCHEMAS}
    reading = _reading_rejects(part_dirs)
    motions = rules.judge_motions(records["motions"], languages, selection)
    sessions = rules.judge_sessions(records["sessions"], languages, selection)
    turns = rules.judge_turns(records["turns"], sessions, template, reading)
    extractions = rules.judge_extractions(records["extractions"], sessions, turns, selection, reading)
    judged = {
        "motions": motions,
        "sessions": sessions,
        "turns": turns,
        "extractions": extractions,
        "annotations": rules.judge_instruments("Annotation", records["annotations"], sessions, turns, reading),
        "judgments": rules.judge_instruments("Judgment", records["judgments"], sessions, turns, reading),
    }

    _write_tables(part_dirs, dest, judged, languages, progress)
    read_rejects, reject_reasons = _write_rejects(part_dirs, dest, judged)
    findings = [*_missing_tables(part_dirs, judged), *expectations.check_sessions(sessions, turns, template, reading)]
    _write_findings(dest, findings)
    return SnapshotReport(
        parts=tuple(_part_name(directory) for directory in part_dirs),
        tables={table: _counts(judged[table], read_rejects[table]) for table in ARCHIVE_SCHEMAS},
        rejects=dict(sorted(reject_reasons.items())),
        left_out={
            table: reasons
            for table, table_judged in judged.items()
            if (reasons := rules.count_reasons(table_judged.verdicts, "left_out"))
        },
        integrity=dict(sorted(Counter(finding.rule for finding in findings).items())),
        notes=expectations.notes(motions, sessions, turns, extractions, template, selection),
        sessions=dict(sorted(Counter((s.values["language"], s.values["condition"]) for s in sessions.kept()).items())),
    )


def _part_name(directory: Path) -> str:
    return pq.read_table(directory / "files.parquet", columns=["part"]).column("part")[0].as_py()


def _rows(path: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    with pq.ParquetFile(path) as stored:
        for batch in stored.iter_batches(_BATCH_ROWS, columns=list(columns)):
            yield from batch.to_pylist()


def _records(part_dirs: Sequence[Path], table: str) -> list[Record]:
    """The records of a table in all parts, without their texts."""
    columns = (*KEYS[table], *_RULE_COLUMNS.get(table, ()))
    return [
        Record(
            part_number=part_number,
            row_number=row_number,
            place=_place(row),
            key=tuple(row[name] for name in KEYS[table]),
            content_hash=row["content_hash"],
            values={name: row[name] for name in columns},
        )
        for part_number, directory in enumerate(part_dirs)
        for row_number, row in enumerate(
            _rows(directory / f"{table}.parquet", [*columns, "part", "file", "line", "content_hash"])
        )
    ]


def _place(row: dict[str, Any]) -> str:
    where = row["file"] if row["line"] is None else f"{row['file']} line {row['line']}"
    return f"{where} of part {row['part']}"


def _reading_rejects(part_dirs: Sequence[Path]) -> ReadingRejects:
    causes: dict[tuple[str, str], str] = {}
    unnamed: Counter[str] = Counter()
    for directory in part_dirs:
        for row in _rows(directory / "rejects.parquet", ["part", "file", "line", "table_name", "record_id", "reason"]):
            if row["record_id"] is None:
                unnamed[row["table_name"]] += 1
            else:
                causes.setdefault((row["table_name"], row["record_id"]), f"{row['reason']}, {_place(row)}")
    return ReadingRejects(causes, unnamed)


def _write_tables(
    part_dirs: Sequence[Path],
    dest: Path,
    judged: dict[str, Judged],
    languages: Collection[str],
    progress: Progress | None,
) -> None:
    total = sum(len(table_judged.records) for table_judged in judged.values())
    done = 0
    sessions = {session.key[0]: session for session in judged["sessions"].kept()}
    for table, schema in ARCHIVE_SCHEMAS.items():
        sources = [directory / f"{table}.parquet" for directory in part_dirs]
        kept = sorted(judged[table].kept(), key=lambda record: _order(table, record, sessions))
        if table in TABLES_BY_LANGUAGE:
            by_language: dict[str, list[Record]] = defaultdict(list)
            for record in kept:
                by_language[sessions[record.key[0]].values["language"]].append(record)
            # Every language has a file, so that a pattern over the directories always finds the columns.
            for language in sorted(languages):
                directory = dest / table / f"language={language}"
                directory.mkdir(parents=True, exist_ok=True)
                _write_in_order(sources, by_language[language], schema, directory / f"{table}.parquet")
        else:
            _write_in_order(sources, kept, schema, dest / f"{table}.parquet")
        done += len(judged[table].records)
        if progress is not None:
            progress(done, total)


def _order(table: str, record: Record, sessions: dict[str, Record]) -> tuple[Any, ...]:
    if table == "sessions":
        return rules.session_order(record)
    if table in TABLES_BY_LANGUAGE:
        return (*rules.session_order(sessions[record.key[0]]), *record.key[1:])
    return tuple((part is not None, part) for part in record.key)


def _write_in_order(sources: Sequence[Path], kept: Sequence[Record], schema: pa.Schema, path: Path) -> None:
    """Writes the rows of `kept`, in its order. Holds the texts of these rows, as Arrow buffers, once."""
    ranks_by_part: dict[int, dict[int, int]] = defaultdict(dict)
    for rank, record in enumerate(kept):
        ranks_by_part[record.part_number][record.row_number] = rank
    batches: list[pa.RecordBatch] = []
    ranks: list[int] = []
    for part_number, rank_by_row in sorted(ranks_by_part.items()):
        first_row = 0
        with pq.ParquetFile(sources[part_number]) as stored:
            for batch in stored.iter_batches(_BATCH_ROWS, columns=schema.names):
                chosen = [row for row in range(len(batch)) if first_row + row in rank_by_row]
                if chosen:
                    batches.append(batch.take(pa.array(chosen)))
                    ranks.extend(rank_by_row[first_row + row] for row in chosen)
                first_row += len(batch)
    table = pa.Table.from_batches(batches, schema=schema)
    order = sorted(range(len(ranks)), key=ranks.__getitem__)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, len(order), ROWS_PER_GROUP):
            writer.write_table(table.take(pa.array(order[start : start + ROWS_PER_GROUP])))


def _write_rejects(
    part_dirs: Sequence[Path], dest: Path, judged: dict[str, Judged]
) -> tuple[Counter[str], Counter[str]]:
    """Writes rejects.parquet by table and part; returns how many the reading rejected by table, and all by reason."""
    read_rejects: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    with RowWriter(dest / "rejects.parquet", REJECTS_SCHEMA) as writer:
        for table, table_judged in judged.items():
            rejected: dict[int, dict[int, tuple[Record, Verdict]]] = defaultdict(dict)
            for record, verdict in zip(table_judged.records, table_judged.verdicts, strict=True):
                if verdict.fate == "rejected":
                    rejected[record.part_number][record.row_number] = (record, verdict)
            for part_number, directory in enumerate(part_dirs):
                for row in _rows(directory / "rejects.parquet", REJECTS_SCHEMA.names):
                    if row["table_name"] == table:
                        read_rejects[table] += 1
                        reasons[row["reason"]] += 1
                        writer.add(row, len(row["raw_line"] or ""))
                if part_number not in rejected:
                    continue
                stored = _rows(directory / f"{table}.parquet", ["part", "file", "line", "raw_line"])
                for row_number, row in enumerate(stored):
                    if row_number in rejected[part_number]:
                        record, verdict = rejected[part_number][row_number]
                        reasons[verdict.reason] += 1
                        writer.add(_reject(table, row, record, verdict), len(row["raw_line"]))
    return read_rejects, reasons


def _reject(table: str, row: dict[str, Any], record: Record, verdict: Verdict) -> dict[str, Any]:
    cut = len(row["raw_line"].encode()) >= RAW_LINE_BYTES
    return {
        **row,
        "table_name": table,
        "record_id": rules.name_of(record),
        "reason": verdict.reason,
        "detail": verdict.detail + (f" raw_line holds its first {RAW_LINE_BYTES:,} bytes." if cut else ""),
    }


def _missing_tables(part_dirs: Sequence[Path], judged: dict[str, Judged]) -> list[Finding]:
    """Findings about whole tables: files without a record, tables without one, nothing left to analyse."""
    findings = [
        Finding("empty_file", None, None, f"{row['file']} of part {row['part']} has no record. Deliver it again.")
        for directory in part_dirs
        for row in _rows(directory / "files.parquet", ["part", "file", "table_name", "records"])
        if row["records"] == 0 and row["table_name"] in REQUIRED_TABLES
    ]
    findings.extend(
        Finding("no_records", None, None, f"No part has a usable record for {table}. Deliver the {table} file.")
        for table in REQUIRED_TABLES
        if not judged[table].records
    )
    if judged["sessions"].records and not judged["sessions"].kept():
        findings.append(
            Finding("no_sessions", None, None, "Every session is rejected or left out: there is nothing to analyse.")
        )
    return findings


def _write_findings(dest: Path, findings: Sequence[Finding]) -> None:
    with RowWriter(dest / "integrity.parquet", INTEGRITY_SCHEMA) as writer:
        for finding in findings:
            writer.add(
                {
                    "rule": finding.rule,
                    "session_id": finding.session_id,
                    "turn_index": finding.turn_index,
                    "detail": finding.detail,
                }
            )


def _counts(judged: Judged, read_rejects: int) -> TableCounts:
    fates = rules.count_fates(judged)
    return TableCounts(
        read=len(judged.records) + read_rejects,
        kept=fates["kept"],
        duplicate=fates["duplicate"],
        rejected=fates["rejected"] + read_rejects,
        left_out=fates["left_out"],
    )
