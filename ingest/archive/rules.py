"""The rules that need more than one record to decide on one: duplicates, orphans, selection.

Pure: records in, one verdict per record out, in the same order. A key with different contents is never resolved by
choosing; all its records are rejected.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ingest.reference import TemplateTurn

Fate = Literal["kept", "duplicate", "rejected", "left_out"]
# Whether sessions follow the turn template or have turns of their own.
Protocol = Literal["template", "free"]

_PLACES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Record:
    """A typed row of a part, without its texts: where it lies, what it is called, and what the rules look at."""

    part_number: int
    row_number: int
    place: str
    key: tuple[Any, ...]
    content_hash: bytes
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a record, and why when it is not used."""

    fate: Fate
    reason: str = ""
    detail: str = ""


KEPT = Verdict("kept")
DUPLICATE = Verdict("duplicate")


@dataclass(frozen=True)
class Selection:
    """What a study looks at. None means everything."""

    motions: frozenset[str] | None = None
    languages: frozenset[str] | None = None
    conditions: frozenset[str] | None = None
    extractors: frozenset[str] | None = None


@dataclass(frozen=True)
class ReadingRejects:
    """What the reading of the parts already rejected, so that orphans can name their cause.

    `causes` maps a table and a record id to reason and place; `unnamed` counts, by table, rejects without an id.
    """

    causes: Mapping[tuple[str, str], str] = field(default_factory=dict)
    unnamed: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Judged:
    """A table's records with their verdicts, and each key's first record, which decides for its copies."""

    records: Sequence[Record]
    verdicts: Sequence[Verdict]
    by_key: Mapping[tuple[Any, ...], tuple[Record, Verdict]]

    @classmethod
    def of(cls, records: Sequence[Record], verdicts: Sequence[Verdict]) -> Judged:
        by_key: dict[tuple[Any, ...], tuple[Record, Verdict]] = {}
        for record, verdict in zip(records, verdicts, strict=True):
            by_key.setdefault(record.key, (record, verdict))
        return cls(records, verdicts, by_key)

    def kept(self) -> list[Record]:
        return [record for record, verdict in zip(self.records, self.verdicts, strict=True) if verdict is KEPT]


def judge_motions(records: Sequence[Record], languages: Collection[str], selection: Selection) -> Judged:
    """Motion texts in languages that are not listed are left out, not rejected: no debate depends on them."""
    verdicts = _resolve_duplicates("Motion text", records, [None] * len(records))
    for number, record in enumerate(records):
        if verdicts[number] is not None:
            continue
        motion_id, language = record.key
        if language not in languages:
            verdicts[number] = Verdict("left_out", "language_not_listed")
        elif _excludes(selection.motions, motion_id):
            verdicts[number] = Verdict("left_out", "motion_not_selected")
        elif _excludes(selection.languages, language):
            verdicts[number] = Verdict("left_out", "language_not_selected")
    return _judged(records, verdicts)


def judge_sessions(records: Sequence[Record], languages: Collection[str], selection: Selection) -> Judged:
    """A language that is not listed rejects a session even when the selection would leave it out."""
    verdicts = _resolve_duplicates("Session", records, [None] * len(records))
    for number, record in enumerate(records):
        if verdicts[number] is not None:
            continue
        values = record.values
        if values["language"] not in languages:
            verdicts[number] = Verdict(
                "rejected",
                "unknown_language",
                f"language is {values['language'][:80]!r}; write one of {', '.join(sorted(languages))}.",
            )
        elif _excludes(selection.motions, values["motion_id"]):
            verdicts[number] = Verdict("left_out", "motion_not_selected")
        elif _excludes(selection.languages, values["language"]):
            verdicts[number] = Verdict("left_out", "language_not_selected")
        elif _excludes(selection.conditions, values["condition"]):
            verdicts[number] = Verdict("left_out", "condition_not_selected")
    return _judged(records, verdicts)


def judge_turns(
    records: Sequence[Record], sessions: Judged, template: Sequence[TemplateTurn], reading: ReadingRejects
) -> Judged:
    """Turns need a session that is used and a place in the template; an empty template has a place for every turn."""
    verdicts = _resolve_duplicates("Turn", records, [_left_out(sessions, record.key[0]) for record in records])
    indices = {turn.turn_index for turn in template}
    for number, record in enumerate(records):
        if verdicts[number] is not None:
            continue
        session_id, turn_index = record.key
        if indices and turn_index not in indices:
            verdicts[number] = Verdict(
                "rejected",
                "turn_index_outside_template",
                f"turn_index is {turn_index}; a session has turns {min(indices)} to {max(indices)}.",
            )
        else:
            verdicts[number] = _no_session(session_id, sessions, reading)
    return _judged(records, verdicts)


def judge_extractions(
    records: Sequence[Record], sessions: Judged, turns: Judged, selection: Selection, reading: ReadingRejects
) -> Judged:
    """Extractions need a turn that is used."""
    left_out = [
        _left_out(sessions, record.key[0])
        or (Verdict("left_out", "extractor_not_selected") if _excludes(selection.extractors, record.key[2]) else None)
        for record in records
    ]
    verdicts = _resolve_duplicates("Extraction", records, left_out)
    for number, record in enumerate(records):
        if verdicts[number] is None:
            session_id, turn_index, _ = record.key
            verdicts[number] = _no_session(session_id, sessions, reading) or _no_turn(
                session_id, turn_index, turns, reading
            )
    return _judged(records, verdicts)


def judge_instruments(
    kind: str, records: Sequence[Record], sessions: Judged, turns: Judged, reading: ReadingRejects
) -> Judged:
    """Annotations and judgments need the sessions and turns that they are about.

    Whether the argument itself exists is known only once the extractor's answers are parsed.
    """
    subjects = [_subjects(record) for record in records]
    left_out = [
        None if isinstance(about, Verdict) else next((v for s, _ in about if (v := _left_out(sessions, s))), None)
        for about in subjects
    ]
    verdicts = _resolve_duplicates(kind, records, left_out)
    for number, about in enumerate(subjects):
        if verdicts[number] is not None:
            continue
        if isinstance(about, Verdict):
            verdicts[number] = about
            continue
        for session_id, turn_index in about:
            verdicts[number] = _no_session(session_id, sessions, reading)
            if verdicts[number] is None and turn_index is not None:
                verdicts[number] = _no_turn(session_id, turn_index, turns, reading)
            if verdicts[number] is not None:
                break
    return _judged(records, verdicts)


def session_order(session: Record) -> tuple[Any, ...]:
    """Sort key of a session: motion, language, condition, repeat (unknown first), session."""
    values = session.values
    return (
        values["motion_id"],
        values["language"],
        values["condition"],
        values["repeat"] or 0,
        session.key[0],
    )


def name_of(record: Record) -> str:
    """A record's key, joined by slashes."""
    return "/".join(str(part) for part in record.key if part is not None)


def count_fates(judged: Judged) -> Counter[Fate]:
    """How many records came to which fate."""
    return Counter(verdict.fate for verdict in judged.verdicts)


def count_reasons(verdicts: Iterable[Verdict], fate: Fate) -> dict[str, int]:
    """How many records have a fate for which reason, by reason."""
    return dict(sorted(Counter(verdict.reason for verdict in verdicts if verdict.fate == fate).items()))


def _judged(records: Sequence[Record], verdicts: Sequence[Verdict | None]) -> Judged:
    return Judged.of(records, [KEPT if verdict is None else verdict for verdict in verdicts])


def _resolve_duplicates(
    kind: str, records: Sequence[Record], verdicts: Sequence[Verdict | None]
) -> list[Verdict | None]:
    """Adds verdicts for records that share a key, among those without one."""
    resolved = list(verdicts)
    numbers_by_key: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for number, record in enumerate(records):
        if resolved[number] is None:
            numbers_by_key[record.key].append(number)
    for numbers in numbers_by_key.values():
        if len(numbers) == 1:
            continue
        if len({records[number].content_hash for number in numbers}) == 1:
            for number in numbers[1:]:
                resolved[number] = DUPLICATE
            continue
        places = [records[number].place for number in numbers]
        shown = "; ".join(places[:_PLACES_SHOWN]) + ("; …" if len(places) > _PLACES_SHOWN else "")
        verdict = Verdict(
            "rejected",
            "conflicting_duplicate",
            f"{kind} {name_of(records[numbers[0]])} occurs {len(numbers)} times with different content ({shown}). Keep "
            "the right one and remove the others.",
        )
        for number in numbers:
            resolved[number] = verdict
    return resolved


def _excludes(selected: Collection[str] | None, value: str) -> bool:
    return selected is not None and value not in selected


def _left_out(sessions: Judged, session_id: str) -> Verdict | None:
    _, verdict = sessions.by_key.get((session_id,), (None, None))
    return verdict if verdict is not None and verdict.fate == "left_out" else None


def _no_session(session_id: str, sessions: Judged, reading: ReadingRejects) -> Verdict | None:
    return _no_parent("session", (session_id,), sessions, reading)


def _no_turn(session_id: str, turn_index: int, turns: Judged, reading: ReadingRejects) -> Verdict | None:
    return _no_parent("turn", (session_id, turn_index), turns, reading)


def _no_parent(kind: str, key: tuple[Any, ...], parents: Judged, reading: ReadingRejects) -> Verdict | None:
    """A verdict on a record whose session or turn is not used, or None when it is."""
    parent, verdict = parents.by_key.get(key, (None, None))
    if verdict is KEPT:
        return None
    name = "/".join(map(str, key))
    if parent is not None and verdict is not None:
        cause = f"{verdict.reason}, {parent.place}"
    else:
        cause = reading.causes.get((f"{kind}s", name), "")
    if cause:
        return Verdict(
            "rejected",
            f"{kind}_rejected",
            f"Its {kind} {name} is rejected ({cause}). Mend that record and this one is used.",
        )
    unnamed = reading.unnamed.get(f"{kind}s", 0)
    hint = f" {unnamed} reject(s) of the {kind}s files have no id; it may be there." if unnamed else ""
    return Verdict(
        "rejected",
        f"{kind}_missing",
        f"Its {kind} {name} is not in the archive.{hint} Deliver the {kind}'s record, or remove this one.",
    )


def _subjects(record: Record) -> list[tuple[str, int | None]] | Verdict:
    """The sessions and turns an annotation or judgment is about, or a verdict when an argument id names none."""
    values = record.values
    subjects: list[tuple[str, int | None]] = []
    if values["session_id"] is not None:
        subjects.append((values["session_id"], values.get("turn_index")))
    for name in ("argument_id", "nearest_argument_id"):
        argument_id = values[name]
        if argument_id is None:
            continue
        session_id, _, rest = argument_id.rpartition("/")
        session_id, _, turn_index = session_id.rpartition("/")
        if not (session_id and _is_index(turn_index) and _is_index(rest)):
            return Verdict(
                "rejected",
                "malformed_argument_id",
                f"{name} is {argument_id[:80]!r}; write session_id/turn_index/argument_index.",
            )
        subjects.append((session_id, int(turn_index)))
    return subjects


def _is_index(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10
