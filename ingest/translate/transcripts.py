"""Debates put into another language, and there and back, to be measured in one language [paper E.4].

Sessions of a foreign language are translated into the reference language. Those of the reference language make a round
trip through the foreign one, so that what translating alone does to a text is known too. Both become sessions of
conditions of their own, which are extracted and measured like any others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ingest.archive.strict_rows import archive_rows
from ingest.archive.write import write_jsonl
from ingest.errors import ArchiveError
from ingest.translate.motions import TranslationError
from ingest.translate.passages import Passage
from ingest.translate.translators import Translator

Progress = Callable[[int, int], None]
Row = dict[str, Any]
# The texts of sessions by their turns.
Spoken = dict[str, dict[int, str]]

# What a translation keeps of its original. Its text was no model's answer to a prompt: hash, tokens and times stay out.
_OF_A_SESSION = ("motion_id", "repeat", "role_mapping", "agents", "status", "source")
_OF_A_TURN = ("phase", "role", "side", "agent", "model_id")


@dataclass(frozen=True)
class TranscriptReport:
    """What became of the debates: `n_translated` and `n_round_trip` were written.

    `unpaired` names the motions (with the repeat behind a slash) that one of the two languages lacks; `problems` says
    why other sessions were not written, by their name.
    """

    n_translated: int
    n_round_trip: int
    unpaired: tuple[str, ...] = ()
    problems: Mapping[str, str] = field(default_factory=dict)


def translated_condition(condition: str, language: str) -> str:
    """The condition of sessions that were translated out of a language."""
    return f"{condition} translated from {language}"


def round_trip_condition(condition: str, language: str) -> str:
    """The condition of sessions that went through a language and back."""
    return f"{condition} round trip through {language}"


def translate_debates(
    archive: Path,
    dest: Path,
    into: Translator[Passage],
    out_of: Translator[Passage],
    *,
    language: str,
    reference_language: str = "en",
    condition: str = "baseline",
    motions: Collection[str] | None = None,
    progress: Progress | None = None,
) -> TranscriptReport:
    """Writes `dest`/sessions.jsonl and turns.jsonl: a part of an archive with the translated and round-trip sessions.

    `into` translates from the reference language into `language`, `out_of` back. Taken are the complete debates of one
    condition (of some motions, or of all) that both languages have; a session is written when every turn of it was
    translated. Each record says in `derived_from` whose translation it is, and in `translator` by what. The motion's
    text is the one in the reference language. `progress` is called with the passages done and all there are.

    Raises ArchiveError for an archive that cannot be used, or that has no such pair of debates.
    """
    sessions = _complete(archive, condition, (language, reference_language), motions)
    by_place = {(row["motion_id"], row["repeat"], row["language"]): row for row in sessions}
    places = {place[:2] for place in by_place}
    paired = sorted(place for place in places if {(*place, language), (*place, reference_language)} <= by_place.keys())
    if not paired:
        raise ArchiveError(
            archive,
            f"has no motion with a complete debate of condition {condition!r} in both {language!r} and "
            f"{reference_language!r}",
            "Name another condition or other motions, or generate the debates first",
        )
    foreign = [by_place[(*place, language)] for place in paired]
    native = [by_place[(*place, reference_language)] for place in paired]
    originals = {row["session_id"]: row for row in (*foreign, *native)}
    turns = _turns_of(archive, originals)

    n_foreign, n_native = (sum(len(turns[row["session_id"]]) for row in rows) for rows in (foreign, native))
    steps = _Steps(progress, n_foreign + 2 * n_native)
    problems: dict[str, str] = {}
    translated = _translated(_texts(foreign, turns), reference_language, out_of, steps, problems)
    there = _translated(_texts(native, turns), language, into, steps, problems)
    back = _translated(there, reference_language, out_of, steps, problems)

    made = [
        _Made(translated, "translated-from", translated_condition(condition, language), out_of.name),
        _Made(back, "round-trip-through", round_trip_condition(condition, language), f"{into.name}, {out_of.name}"),
    ]
    motion_texts = {row["motion_id"]: row["motion_text"] for row in native}
    session_rows, turn_rows = [], []
    for arm in made:
        for name, texts in arm.spoken.items():
            of_this = {"session_id": f"{name}--{arm.how}-{language}"}
            provenance = {"derived_from": name, "translator": arm.translator}
            in_reference = {
                "motion_text": motion_texts[originals[name]["motion_id"]],
                "language": reference_language,
                "condition": arm.condition,
            }
            session_rows.append(of_this | _kept(originals[name], _OF_A_SESSION) | in_reference | provenance)
            turn_rows += [
                of_this | {"turn_index": turn} | _kept(turns[name][turn], _OF_A_TURN) | {"text": text} | provenance
                for turn, text in sorted(texts.items())
            ]
    # Turns first: a part whose sessions are there has their turns too.
    write_jsonl(dest / "turns.jsonl", turn_rows)
    write_jsonl(dest / "sessions.jsonl", session_rows)
    unpaired = sorted(f"{motion}/{repeat}" for motion, repeat in places - set(paired))
    return TranscriptReport(len(translated), len(back), tuple(unpaired), problems)


@dataclass(frozen=True)
class _Made:
    """The sessions of one new condition: their texts by the name of the original, and how they came about."""

    spoken: Spoken
    how: str
    condition: str
    translator: str


@dataclass
class _Steps:
    """Progress over all passages of all translations."""

    progress: Progress | None
    total: int
    done: int = 0

    def step(self) -> None:
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, self.total)


def _complete(archive: Path, condition: str, languages: Sequence[str], motions: Collection[str] | None) -> list[Row]:
    """Sessions of the condition and languages that do not say that they are anything but complete."""
    return [
        row
        for row in archive_rows(archive, "sessions")
        if row["condition"] == condition
        and row["language"] in languages
        and (motions is None or row["motion_id"] in motions)
        and row["status"] in (None, "complete")
    ]


def _turns_of(archive: Path, sessions: Collection[str]) -> dict[str, dict[int, Row]]:
    """The turns of each session by their place."""
    turns: dict[str, dict[int, Row]] = {name: {} for name in sessions}
    for row in archive_rows(archive, "turns"):
        if row["session_id"] in turns:
            turns[row["session_id"]][row["turn_index"]] = row
    if silent := sorted(name for name, spoken in turns.items() if not spoken):
        raise ArchiveError(
            archive, f"has no turn of {len(silent)} sessions ({', '.join(silent[:5])})", "Deliver their turns too"
        )
    return turns


def _texts(rows: Iterable[Row], turns: Mapping[str, Mapping[int, Row]]) -> Spoken:
    return {
        row["session_id"]: {turn: spoken["text"] for turn, spoken in turns[row["session_id"]].items()} for row in rows
    }


def _translated(
    spoken: Spoken, language: str, translator: Translator[Passage], steps: _Steps, problems: dict[str, str]
) -> Spoken:
    """The sessions of which every turn was translated; of the others, `problems` learns why the first turn was not."""
    passages = [
        Passage(name, turn, language, text) for name, turns in spoken.items() for turn, text in sorted(turns.items())
    ]
    texts: Spoken = {name: {} for name in spoken}
    failed: dict[str, dict[int, str]] = {}
    for passage, text in translator.translate(passages):
        if isinstance(text, TranslationError):
            failed.setdefault(passage.session_id, {})[passage.turn_index] = str(text)
        else:
            texts[passage.session_id][passage.turn_index] = text
        steps.step()
    for name, reasons in failed.items():
        turn = min(reasons)
        problems[name] = f"turn {turn} into {language}: {reasons[turn]}"
    return {name: turns for name, turns in texts.items() if name not in failed}


def _kept(row: Row, names: Iterable[str]) -> Row:
    # A map is a list of pairs in a row and an object in a record.
    kept = {name: row[name] for name in names if row[name] is not None}
    return {name: dict(value) if isinstance(value, list) else value for name, value in kept.items()}
