"""What a usable archive is expected to have, beyond records that are each fine on their own."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ingest.archive.reports import Note
from ingest.archive.rules import KEPT, Judged, ReadingRejects, Record, Selection, name_of, session_order
from ingest.reference import TemplateTurn


@dataclass(frozen=True)
class Finding:
    """A violated expectation. `rule` is a code, `detail` a sentence."""

    rule: str
    session_id: str | None
    turn_index: int | None
    detail: str


def check_sessions(
    sessions: Judged, turns: Judged, template: Sequence[TemplateTurn], reading: ReadingRejects
) -> list[Finding]:
    """Sessions that are not complete, and sessions that share one motion × language × condition × repeat.

    A session is complete when it has all turns of the template (or any turn, where the template is empty) and does not
    say itself that it is partial or failed: one whose model changed half-way has all its turns too.
    """
    spoken = {turn.key[0] for turn in turns.kept()}
    findings = []
    cells: dict[tuple[Any, ...], list[Record]] = defaultdict(list)
    for session in sorted(sessions.kept(), key=session_order):
        session_id = session.key[0]
        cells[session_order(session)[:-1]].append(session)
        status = session.values["status"]
        if not template and session_id not in spoken:
            findings.append(
                Finding("missing_turns", session_id, None, f"Session {session_id} ({session.place}) has no turn.")
            )
        missing = [
            turn.turn_index
            for turn in template
            if turns.by_key.get((session_id, turn.turn_index), (None, None))[1] is not KEPT
        ]
        if missing:
            rejected = [
                index
                for index in missing
                if (session_id, index) in turns.by_key or ("turns", f"{session_id}/{index}") in reading.causes
            ]
            hint = f" The rejects say why {_turns(rejected)} cannot be used." if rejected else ""
            findings.append(
                Finding(
                    "missing_turns",
                    session_id,
                    None,
                    f"Session {session_id} ({session.place}) has {len(template) - len(missing)} of {len(template)} "
                    f"turns; {_turns(missing)} {'is' if len(missing) == 1 else 'are'} missing.{hint}",
                )
            )
        elif status in ("partial", "failed") and session_id in spoken:
            detail = f"Session {session_id} ({session.place}) is {status}, as it says{_own_reason(session)}."
            findings.append(Finding("said_incomplete", session_id, None, detail))
    for sharing in cells.values():
        if len(sharing) > 1:
            values = sharing[0].values
            cell = f"{values['motion_id']} × {values['language']} × {values['condition']} × repeat {values['repeat']}"
            findings.extend(
                Finding(
                    "shared_cell",
                    session.key[0],
                    None,
                    f"Session {session.key[0]} shares {cell} with {len(sharing) - 1} other(s), such as "
                    f"{next(other.key[0] for other in sharing if other is not session)}. Give each its own repeat.",
                )
                for session in sharing
            )
    return findings


def notes(
    motions: Judged,
    sessions: Judged,
    turns: Judged,
    extractions: Judged,
    template: Sequence[TemplateTurn],
    selection: Selection,
) -> tuple[Note, ...]:
    """What a user should know although every record concerned is used."""
    kept_sessions = {session.key[0]: session for session in sessions.kept()}
    kept_turns = turns.kept()
    by_index = {turn.turn_index: turn for turn in template}
    terms = {name: {getattr(turn, name) for turn in template} for name in ("phase", "role", "side")}
    answered = {extraction.key[:2] for extraction in extractions.kept()}
    listed = {motion.key[0] for motion in motions.records}
    found = (
        (
            "motion_not_listed",
            "Motion {} has sessions but is not in the motions file.",
            sorted({s.values["motion_id"] for s in kept_sessions.values()} - listed),
        ),
        (
            "turn_differs_from_template",
            "Turn {} has another phase, role or side than the template gives its turn_index.",
            [name_of(turn) for turn in kept_turns if template and _differs(turn.values, by_index[turn.key[1]], terms)],
        ),
        (
            "unknown_turn_term",
            "Turns have the {}: none of the template's, so what follows from it is NULL. Mend the turns, or add the "
            "spelling to ingest/reference/turn_terms.csv.",
            sorted({unknown for turn in kept_turns if template for unknown in _unknown_terms(turn.values, terms)}),
        ),
        (
            "agent_differs_from_role_mapping",
            "Turn {} has another agent than its session's role_mapping gives its role.",
            [name_of(turn) for turn in kept_turns if _other_agent(turn, kept_sessions[turn.key[0]])],
        ),
        (
            "turn_without_extraction",
            "Turn {} has no answer of any selected extractor.",
            [name_of(turn) for turn in kept_turns if turn.key not in answered],
        ),
        (
            "selected_but_absent",
            "The selection names {}, which the archive does not have.",
            _absent(sessions, extractions, selection),
        ),
    )
    return tuple(
        Note(code, len(names), sentence.format(names[0]) + (f" {len(names) - 1} more like it." if names[1:] else ""))
        for code, sentence, names in found
        if names
    )


def _own_reason(session: Record) -> str:
    """What a run wrote beside the status."""
    reason = json.loads(session.values["extra"] or "{}").get("status_reason")
    return f": {reason.rstrip('.')}" if isinstance(reason, str) else ""


def _turns(indices: Sequence[int]) -> str:
    return f"turn{'' if len(indices) == 1 else 's'} {', '.join(map(str, indices))}"


def _differs(values: Mapping[str, Any], turn: TemplateTurn, terms: Mapping[str, set[str]]) -> bool:
    """Whether the turn has a term of the template that belongs elsewhere."""
    return any(values[name] in known and values[name] != getattr(turn, name) for name, known in terms.items())


def _unknown_terms(values: Mapping[str, Any], terms: Mapping[str, set[str]]) -> list[str]:
    return [
        f"{name} {values[name][:80]!r}"
        for name, known in terms.items()
        if values[name] is not None and values[name] not in known
    ]


def _other_agent(turn: Record, session: Record) -> bool:
    mapping = dict(session.values["role_mapping"] or ())
    agent, mapped = turn.values["agent"], mapping.get(turn.values["role"])
    return agent is not None and mapped is not None and agent != mapped


def _absent(sessions: Judged, extractions: Judged, selection: Selection) -> list[str]:
    present = {name: {s.values[name] for s in sessions.records} for name in ("motion_id", "language", "condition")}
    present["extractor"] = {extraction.key[2] for extraction in extractions.records}
    selected = {
        "motion_id": selection.motions,
        "language": selection.languages,
        "condition": selection.conditions,
        "extractor": selection.extractors,
    }
    return [
        f"{name.removesuffix('_id')} {value!r}"
        for name, values in selected.items()
        for value in sorted(values or ())
        if value not in present[name]
    ]
