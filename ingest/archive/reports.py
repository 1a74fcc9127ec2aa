"""What reading an archive came to, as plain counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class TableCounts:
    """Fates of a table's records; `read` is always the sum of the others.

    A record is a line of the archive, except that a motion counts once per language it has a text in, and that a file
    which cannot be read to its end counts as one rejected record.
    """

    read: int = 0
    kept: int = 0
    duplicate: int = 0
    rejected: int = 0
    left_out: int = 0


@dataclass(frozen=True)
class FileReport:
    """One file of a part. `records` counts its non-blank lines (rows, in CSV), usable or not.

    It is None when the file cannot be read to its end.
    """

    file: str
    table: str
    bytes: int
    records: int | None


@dataclass(frozen=True)
class PartReport:
    """What became of one part. `rejects` counts by reason, `unknown_fields` by table and field (kept in `extra`).

    `other_files` are data files in the part's directory whose names the contract does not know: they are not read.
    """

    part: str
    files: tuple[FileReport, ...]
    tables: Mapping[str, TableCounts]
    rejects: Mapping[str, int]
    unknown_fields: Mapping[str, Mapping[str, int]]
    other_files: tuple[str, ...]

    @property
    def n_rejects(self) -> int:
        return sum(self.rejects.values())


@dataclass(frozen=True)
class Note:
    """Something worth knowing that forbids nothing: how often, and an example in a sentence."""

    code: str
    count: int
    detail: str


@dataclass(frozen=True)
class SnapshotReport:
    """What became of an archive. `rejects` and `integrity` count the rows of the files of that name, by code.

    `left_out` counts, by table and reason, the records that the selection leaves out. `sessions` counts kept sessions
    by language and condition.
    """

    parts: tuple[str, ...]
    tables: Mapping[str, TableCounts]
    rejects: Mapping[str, int]
    left_out: Mapping[str, Mapping[str, int]]
    integrity: Mapping[str, int]
    notes: tuple[Note, ...]
    sessions: Mapping[tuple[str, str], int]

    @property
    def n_rejects(self) -> int:
        return sum(self.rejects.values())

    @property
    def n_integrity(self) -> int:
        return sum(self.integrity.values())
