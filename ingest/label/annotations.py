"""Annotations as the archive's `annotations.csv`."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ingest.archive.schemas import ARCHIVE_SCHEMAS, EXTRA, PROVENANCE
from ingest.whole_file import whole_file

COLUMNS = [
    name for name in ARCHIVE_SCHEMAS["annotations"].names if name not in {EXTRA.name, *(f.name for f in PROVENANCE)}
]


def write_annotations(path: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Writes `rows` (annotations by column name) as annotations.csv, and returns how many.

    NULL is an empty cell, a truth value true or false, as the archive's reader takes them. Raises ValueError for a
    column that annotations.csv does not have.
    """
    n_rows = 0
    with whole_file(path) as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for row in rows:
            writer.writerow({name: _cell(value) for name, value in row.items()})
            n_rows += 1
    return n_rows


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else value
