"""The speeches of an archive, with what an extractor is told about each."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from ingest.archive.strict_rows import archive_rows
from ingest.errors import ArchiveError
from ingest.reference import turn_template

_SIDES = {turn.turn_index: turn.side for turn in turn_template()}


@dataclass(frozen=True)
class Speech:
    """One turn's text. `side` is pro or con, from the turn or, when it does not say, from its place."""

    session_id: str
    turn_index: int
    motion_text: str
    language: str
    side: str
    text: str


def read_speeches(archive: Path, session_ids: Collection[str] | None = None) -> list[Speech]:
    """All speeches of an archive, or of some of its debates, by session in the archive's order and by turn.

    Raises ArchiveError for a record that cannot be used, a turn without its session or its side, and a named session
    that is not there: whoever pays for extraction learns of a fault before the first call.
    """
    sessions = {row["session_id"]: row for row in archive_rows(archive, "sessions")}
    if session_ids is not None:
        if absent := sorted(set(session_ids) - sessions.keys()):
            raise ArchiveError(
                archive,
                f"lacks {len(absent)} of the sessions asked for ({', '.join(absent[:5])})",
                "Generate them first, or leave them out",
            )
        sessions = {name: row for name, row in sessions.items() if name in set(session_ids)}
    speeches: dict[str, list[Speech]] = {name: [] for name in sessions}
    for turn in archive_rows(archive, "turns"):
        name = turn["session_id"]
        session = sessions.get(name)
        if session is None:
            if session_ids is not None:
                continue
            raise ArchiveError(
                archive, f"has a turn of session {name!r} and no such session", "Deliver the session too"
            )
        side = (turn["side"] or _SIDES.get(turn["turn_index"], "")).strip().lower()
        if not side:
            raise ArchiveError(archive, f"does not say the side of {name}/{turn['turn_index']}", "Give the turn a side")
        speeches[name].append(
            Speech(name, turn["turn_index"], session["motion_text"], session["language"], side, turn["text"])
        )
    return [speech for spoken in speeches.values() for speech in sorted(spoken, key=lambda one: one.turn_index)]
