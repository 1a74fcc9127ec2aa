"""The one writer of JSON Lines."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def write_jsonl(path: Path, records: Iterable[Mapping[str, Any]]) -> int:
    """Writes the records, one a line, and returns how many. The file appears, or changes, in one step or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    n_records = 0
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            for record in records:
                file.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")
                n_records += 1
            file.flush()
            os.fsync(file.fileno())
        Path(draft).chmod(0o644)
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
    return n_records
