"""An archive's records for those who spend money on them: all usable, or an error that names the first that is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ingest.archive.jsonl import read_jsonl
from ingest.archive.lines import LineReader, UnreadableFile, Unusable
from ingest.archive.parts import find_parts
from ingest.archive.records import Row, rows_of
from ingest.archive.schemas import KEYS
from ingest.errors import ArchiveError


def archive_rows(archive: Path, table: str) -> list[Row]:
    """The rows of a JSON Lines table over all parts of an archive, each key once, in the order of the files.

    Raises ArchiveError for the first record that cannot be used, and for two that say different things under one key.
    """
    paths = [part.files[table] for part in find_parts(archive) if table in part.files]
    return _distinct(table, paths)


def file_rows(path: Path, table: str) -> list[Row]:
    """The rows of one JSON Lines file, each key once. Raises ArchiveError as `archive_rows` does."""
    return _distinct(table, [path])


def _distinct(table: str, paths: list[Path]) -> list[Row]:
    rows: dict[tuple, Row] = {}
    for path in paths:
        for line, row in _rows(path, table):
            key = tuple(row[name] for name in KEYS[table])
            if rows.setdefault(key, row) != row:
                raise ArchiveError(
                    path, f"says something else in line {line} about {'/'.join(map(str, key))}", "Keep the right record"
                )
    return list(rows.values())


def _rows(path: Path, table: str) -> Iterator[tuple[int, Row]]:
    try:
        for delivered in read_jsonl(LineReader(path)):
            if isinstance(delivered.content, Unusable):
                raise ArchiveError(path, f"cannot be used at line {delivered.line}", delivered.content.detail[:-1])
            try:
                rows = rows_of(table, delivered.content)
            except Unusable as unusable:
                raise ArchiveError(path, f"cannot be used at line {delivered.line}", unusable.detail[:-1]) from None
            for row in rows:
                yield delivered.line, row
    except UnreadableFile as unreadable:
        raise ArchiveError(path, "cannot be read to its end", unreadable.detail[:-1]) from unreadable
