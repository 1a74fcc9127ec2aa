"""Imports into a temporary folder, and the archive files they leave."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ingest.importers import ImportReport, Mapping, import_debates

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Imported:
    """The folder that an import wrote, and its report."""

    folder: Path
    report: ImportReport

    def records(self, name: str) -> list[dict[str, Any]]:
        text = (self.folder / f"{name}.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.split("\n") if line]

    def spoken(self, session_id: str) -> list[tuple[int, str | None, str]]:
        return [
            (turn["turn_index"], turn["agent"], turn["text"])
            for turn in self.records("turns")
            if turn["session_id"] == session_id
        ]

    def claims(self, session_id: str) -> dict[int, list[str]]:
        return {
            record["turn_index"]: [unit["claim"] for unit in json.loads(record["raw_response"])["arguments"]]
            for record in self.records("extractions")
            if record["session_id"] == session_id
        }

    def found(self, kind: str) -> list[dict[str, Any]]:
        return [finding for finding in self.records("import/findings") if finding["kind"] == kind]


Import = Callable[..., Imported]


@pytest.fixture
def imported(tmp_path: Path) -> Import:
    """Imports a source by a mapping, given as settings or ready made; each call in a folder of its own."""
    calls = iter(range(100))

    def run(mapping: Mapping | dict[str, Any], source: Path, **options: Any) -> Imported:
        made = mapping if isinstance(mapping, Mapping) else Mapping.model_validate({"name": "test", **mapping})
        folder = tmp_path / f"imported-{next(calls)}"
        return Imported(folder, import_debates(made, source, folder, **options))

    return run


def write(folder: Path, **files: Any) -> Path:
    """A source folder with files given as bytes, text or (as JSON) anything else; `__` in a name is its dot."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        raw = content if isinstance(content, bytes | str) else json.dumps(content, ensure_ascii=False)
        (folder / name.replace("__", ".")).write_bytes(raw if isinstance(raw, bytes) else raw.encode())
    return folder


def debate(*texts: Any, **fields: Any) -> dict[str, Any]:
    """A debate of `texts`, spoken by a and b in turn, for the mapping `FLAT`."""
    turns = [{"who": "ab"[index % 2], "text": text} for index, text in enumerate(texts)]
    return {"id": "d", "language": "en", "turns": turns, **fields}


FLAT: dict[str, Any] = {
    "format": "json",
    "debate": {"id": "id", "motion": "motion", "motion_id": "motion_id", "language": "language"},
    "turns": [{"each": "turns", "text": "text", "agent": "who"}],
}
