"""Manual triage of flagged translations [paper B.2]: out to a CSV, back in with decisions, and the set locked.

A: the meaning differs and must be corrected; B: a nuance; C: safe, or an artifact of the back-translation.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ingest.archive.csv_rows import read_csv
from ingest.archive.lines import LineReader, UnreadableFile, Unusable
from ingest.run.lock import Grid, lock_grid
from ingest.translate.answers import PRESERVES, is_flagged
from ingest.translate.motions import Cell, MotionRecord, TranslationError, cells, changed
from ingest.whole_file import whole_file

MUST_FIX = "A"
DECISIONS = (MUST_FIX, "B", "C")
COLUMNS = (
    "motion_id",
    "language",
    "source_text",
    "motion_text",
    "back_translation",
    "adequacy_score",
    *PRESERVES,
    "issue_type",
    "brief_reason",
    "triage",
    "corrected_text",
)
_DECIDING = ("motion_id", "language", "motion_text", "triage", "corrected_text")
# Spreadsheets run a cell that starts so as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def export_triage(
    records: Sequence[MotionRecord], languages: Sequence[str], path: Path, source_language: str = "en"
) -> int:
    """Writes the flagged cells as CSV, with columns for the decision and the corrected text; returns how many."""
    flagged = [
        (cell, review)
        for cell, review in _reviewed(records, languages, source_language)
        if is_flagged(review) and cell.text is not None
    ]
    # With a byte order mark, without which spreadsheets read UTF-8 as another encoding.
    with whole_file(path, encoding="utf-8-sig") as file:
        rows = csv.writer(file)
        rows.writerow(COLUMNS)
        for cell, review in flagged:
            values = {
                **(review or {}),
                "motion_id": cell.motion_id,
                "language": cell.language,
                "source_text": cell.source_text,
                "motion_text": cell.text,
            }
            rows.writerow([_cell(values.get(column)) for column in COLUMNS])
    return len(flagged)


def import_triage(
    records: Sequence[MotionRecord], languages: Sequence[str], path: Path, source_language: str = "en"
) -> list[MotionRecord]:
    """The motions with the decisions of a triage file. A row without a decision changes nothing.

    A corrected text replaces the translation, and drops its review: the new text must be reviewed itself. Nothing is
    taken in when a row cannot be used; TranslationError names every such row, its problem and the remedy.
    """
    reviewed = {
        (cell.motion_id, cell.language): (cell, review)
        for cell, review in _reviewed(records, languages, source_language)
    }
    texts: dict[tuple[str, str], str] = {}
    qa: dict[tuple[str, str], dict[str, Any] | None] = {}
    seen: set[tuple[str, str]] = set()
    faults = []
    try:
        for row in read_csv(LineReader(path), _DECIDING):
            if isinstance(row.content, Unusable):
                faults.append(f"line {row.line}: {row.content.detail}")
                continue
            values = {name: (row.content[name] or "").strip() for name in _DECIDING}
            place = (values["motion_id"], values["language"])
            decision, corrected = values["triage"].upper(), values["corrected_text"]
            fault = _fault(place, values, decision, corrected, reviewed, seen)
            seen.add(place)
            if fault is not None:
                faults.append(f"line {row.line} ({'/'.join(place)}): {fault}")
            elif corrected:
                texts[place], qa[place] = corrected, None
            elif decision:
                qa[place] = {**(reviewed[place][1] or {}), "triage": decision}
    except UnreadableFile as unreadable:
        faults.append(unreadable.detail)
    if faults:
        raise TranslationError(f"{path} is not taken in; correct these rows: " + " ".join(faults))
    return changed(records, texts=texts, qa=qa)


def lock_translations(
    records: Sequence[MotionRecord], languages: Sequence[str], directory: Path, source_language: str = "en"
) -> bool:
    """Locks the texts of the set, so that every later phase debates the same ones; True when they were not locked yet.

    Raises TranslationError while a cell has no text, no review, a flag without a decision, or the decision A;
    LockError when other texts are locked.
    """
    open_cells: dict[str, list[str]] = {}
    for cell, review in _reviewed(records, languages, source_language):
        if cell.text is None:
            open_cells.setdefault("not translated", []).append(cell.name)
        elif is_flagged(review) is None:
            open_cells.setdefault("not reviewed", []).append(cell.name)
        elif (decision := (review or {}).get("triage")) == MUST_FIX:
            open_cells.setdefault("to be corrected (A)", []).append(cell.name)
        elif is_flagged(review) and decision not in DECISIONS:
            open_cells.setdefault("flagged and not decided", []).append(cell.name)
    if open_cells:
        told = "; ".join(f"{len(names)} {what} ({', '.join(names[:5])})" for what, names in open_cells.items())
        raise TranslationError(f"The translations cannot be locked yet: {told}. Finish the review and the triage.")
    items = tuple(
        {"id": f"{record['motion_id']}/{language}", "text": record["texts"][language]}
        for record in records
        for language in dict.fromkeys([source_language, *languages])
    )
    return lock_grid(
        Grid("translations", {"kind": "translations", "source_language": source_language}, items), directory
    )


def _reviewed(
    records: Sequence[MotionRecord], languages: Sequence[str], source_language: str
) -> list[tuple[Cell, dict[str, Any] | None]]:
    reviews = {record["motion_id"]: record.get("qa") or {} for record in records}
    return [(cell, reviews[cell.motion_id].get(cell.language)) for cell in cells(records, languages, source_language)]


def _fault(
    place: tuple[str, str],
    values: dict[str, str],
    decision: str,
    corrected: str,
    reviewed: dict[tuple[str, str], tuple[Cell, dict[str, Any] | None]],
    seen: set[tuple[str, str]],
) -> str | None:
    if place not in reviewed:
        return "there is no such motion and language; correct the ids."
    if place in seen:
        return "it has an earlier row; keep one."
    if (decision or corrected) and values["motion_text"] != _cell(reviewed[place][0].text).strip():
        return "motion_text is not the present translation; export the file again and decide anew."
    if decision and decision not in DECISIONS:
        return f"triage is {values['triage']!r}; write {', '.join(DECISIONS)} or leave it empty."
    if corrected and decision != MUST_FIX:
        return f"it has a corrected_text and triage {values['triage']!r}; only {MUST_FIX} is corrected."
    if decision == MUST_FIX and not corrected:
        return f"triage is {MUST_FIX} and there is no corrected_text; write it."
    return None


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
