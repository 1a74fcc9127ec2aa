"""Archives in the contract's format: find their parts, read each, bring them together.

`find_parts` → `read_part` for each → `build_snapshot`.
"""

from ingest.archive.parts import Part, files_not_read, find_parts
from ingest.archive.read import read_part
from ingest.archive.reports import FileReport, Note, PartReport, SnapshotReport, TableCounts
from ingest.archive.rules import Selection
from ingest.archive.snapshot import build_snapshot

__all__ = [
    "FileReport",
    "Note",
    "Part",
    "PartReport",
    "Selection",
    "SnapshotReport",
    "TableCounts",
    "build_snapshot",
    "files_not_read",
    "find_parts",
    "read_part",
]
