"""The one writer of JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ingest.whole_file import whole_file


def write_jsonl(path: Path, records: Iterable[Mapping[str, Any]]) -> int:
    """Writes the records, one a line, and returns how many. The file appears, or changes, in one step or not at all."""
    n_records = 0
    with whole_file(path) as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")
            n_records += 1
    return n_records
