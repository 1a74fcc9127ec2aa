"""The motions of a study as they are translated: records of motions.jsonl, and their cells (motion × language)."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingest.archive.jsonl import read_jsonl
from ingest.archive.lines import LineReader
from ingest.archive.strict_rows import file_rows
from ingest.errors import IngestError

# A record of motions.jsonl: motion_id, source, texts by language, qa by language, and whatever else it held.
MotionRecord = dict[str, Any]


class TranslationError(IngestError):
    """Motions, translations or triage decisions that cannot be used. `str()` names them and the remedy."""


@dataclass(frozen=True)
class Cell:
    """A motion in one language beside its original. `text` is None where it has not been translated."""

    motion_id: str
    language: str
    source_text: str
    text: str | None

    @property
    def name(self) -> str:
        return f"{self.motion_id}/{self.language}"

    @property
    def subject(self) -> Mapping[str, str | int]:
        """What a call for it is recorded as being about."""
        return {"motion_id": self.motion_id, "language": self.language}


def read_motion_records(path: Path) -> list[MotionRecord]:
    """The records of a motions.jsonl, by motion id. Raises ArchiveError or TranslationError when one cannot be used."""
    file_rows(path, "motions")
    records = {}
    for delivered in read_jsonl(LineReader(path)):
        record = dict(delivered.content)  # type: ignore[arg-type]
        if record["motion_id"] in records:
            raise TranslationError(
                f"{path} holds motion {record['motion_id']!r} twice. Keep one record with all its texts."
            )
        records[record["motion_id"]] = record
    return [records[motion_id] for motion_id in sorted(records)]


def cells(records: Iterable[MotionRecord], languages: Sequence[str], source_language: str) -> Iterator[Cell]:
    """Each motion in each language but the source language. Raises TranslationError when an original is missing."""
    for record in records:
        source_text = record["texts"].get(source_language)
        if not source_text:
            raise TranslationError(
                f"Motion {record['motion_id']} has no text in {source_language!r}, the language to translate from. "
                "Add it."
            )
        for language in languages:
            if language != source_language:
                yield Cell(record["motion_id"], language, source_text, record["texts"].get(language) or None)


def changed(
    records: Iterable[MotionRecord],
    texts: dict[tuple[str, str], str] | None = None,
    qa: dict[tuple[str, str], dict[str, Any] | None] | None = None,
) -> list[MotionRecord]:
    """Copies of the records with the texts and reviews of some cells, (motion_id, language), replaced.

    None drops a review.
    """
    copies = {record["motion_id"]: copy.deepcopy(record) for record in records}
    for (motion_id, language), text in (texts or {}).items():
        copies[motion_id]["texts"][language] = text
    for (motion_id, language), review in (qa or {}).items():
        reviews = copies[motion_id].get("qa") or {}
        reviews.pop(language, None)
        if review is not None:
            reviews[language] = review
        copies[motion_id]["qa"] = reviews
    return list(copies.values())
