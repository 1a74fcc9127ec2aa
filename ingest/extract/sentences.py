"""The extractor without a model: one argument unit per sentence, so that any transcript can be measured without a key.

Sentences end where the language's own marks say so, with the exceptions that dbt's `sentence_count` makes for its
diagnostic. Two things differ, because here the sentences themselves are wanted: a blank line ends a sentence too, and
a fragment without a letter or digit belongs to the sentence before it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ingest.archive.write import write_jsonl
from ingest.extract.speeches import Speech
from ingest.reference import languages

SENTENCES = "sentences"

_TERMINATORS = {language.language: language.sentence_terminators for language in languages()}
# For languages that the reference list does not know: its marks, and those of further scripts.
_ANY_TERMINATORS = "".join(dict.fromkeys("".join(_TERMINATORS.values()) + "。！？।॥۔։።፧។။᙮"))

# Marks that do not end a sentence everywhere; the others do.
_WESTERN_MARKS = ".!?…"
_SPACE = r"[^\S\n]"
_CLOSING = "\"'”’»›)\\]}」』》〉】）*_"
_BLANK_LINE = re.compile(r"\n\s*\n")
_NUMBERED_LINE = re.compile(r"(?:^|\n)\s*\d{1,2}$")

# What always has something behind it, and what has when a number follows.
_NEVER_FINAL = re.compile(
    r"(?<!\w)(?:e\. ?g|i\. ?e|p\. ?ej|p\. ?ex|т\. ?е|т\. ?к|vs|cf|dr|dra|mr|mrs|ms|mme|mlle|prof|sr|sra|srta|st|gen|sen"
    r"|см|напр|ул|проф|أ\.د|[دأ])$",
    re.IGNORECASE,
)
_BEFORE_NUMBER = re.compile(
    r"(?<!\w)(?:nos?|núm|arts?|cap|fig|vol|pp?|ch|sec|ca?|approx|ст|стр|гл|рис|п|ص)$", re.IGNORECASE
)
_INITIAL = re.compile(r"(?<![^\W_])([^\W\d_])$")
_TOWN = re.compile(r"(?:^|[^\d\s]\s+)г$")
# Abbreviations of several letters with their dots (т. е., z. B., EE. UU.): the first dot, and what is behind it.
_ABBREVIATION_BEGUN = re.compile(r"(?<!\w)(?:[^\W\d_]|EE)$")
_ABBREVIATION_ENDED = re.compile(r" ?(?:[^\W\d_]\.|ej\.|UU)")


def split_sentences(text: str, language: str) -> list[str]:
    """The sentences of a text, in order and trimmed. Every character but white space is in exactly one of them.

    A text without a letter or digit has none. An unknown language is split at the marks of all scripts.
    """
    marks = _TERMINATORS.get(language, _ANY_TERMINATORS)
    ends = re.compile(rf"[{re.escape(marks)}…]+[{_CLOSING}]*(?:[ \u00a0\u202f][»›])?")
    pieces = [piece for paragraph in _BLANK_LINE.split(text) for piece in _pieces(paragraph, ends)]
    sentences: list[str] = []
    held = ""
    for piece in pieces:
        if any(character.isalnum() for character in piece):
            sentences.append(f"{held} {piece}".strip())
            held = ""
        elif sentences:
            sentences[-1] = f"{sentences[-1]} {piece}"
        else:
            held = f"{held} {piece}".strip()
    return sentences


def extract_sentences(speeches: Sequence[Speech], dest: Path) -> int:
    """Writes `dest`/extractions.jsonl with one unit per sentence of each speech; returns how many speeches it holds.

    The records have the form of a model's answers. A speech without a sentence has an answer without units.
    """
    return write_jsonl(dest / "extractions.jsonl", (_record(speech) for speech in speeches))


def _record(speech: Speech) -> dict[str, Any]:
    units = [
        {"claim": sentence, "warrant": "", "evidence_or_example": "", "argument_type": ""}
        for sentence in split_sentences(speech.text, speech.language)
    ]
    return {
        "session_id": speech.session_id,
        "turn_index": speech.turn_index,
        "extractor": SENTENCES,
        "raw_response": json.dumps({"arguments": units}, ensure_ascii=False),
        "finish_reason": None,
        "created_at": None,
    }


def _pieces(paragraph: str, ends: re.Pattern[str]) -> list[str]:
    pieces, start = [], 0
    for mark in ends.finditer(paragraph):
        if _is_end(paragraph[start : mark.start()], mark[0], paragraph[mark.end() :]):
            pieces.append(paragraph[start : mark.end()].strip())
            start = mark.end()
    return [piece for piece in (*pieces, paragraph[start:].strip()) if piece]


def _is_end(before: str, mark: str, behind: str) -> bool:
    """Whether a run of marks, with the quotes and brackets that close on it, ends the sentence `before` it."""
    closing = mark.lstrip(_WESTERN_MARKS)
    if mark[0] not in _WESTERN_MARKS:
        return True
    if behind[:1] in (",", ";", ":", "،", "؛"):
        return False
    if mark[0] in "!?":
        dash_follows = re.match(rf"{_SPACE}+[—–]{_SPACE}", behind) is not None
        return not (closing or dash_follows) or not _is_lower_after_space(behind)
    if _is_lower_after_space(behind):
        return False
    if mark[0] == "." and not closing and behind[:1].isalnum() and not _is_han(behind[0]):
        return False
    return mark != "." or not _is_abbreviated(before, behind)


def _is_lower_after_space(behind: str) -> bool:
    follows = re.match(r"(?:\s|[—–])+(\w)", behind)
    return follows is not None and follows[1].islower()


def _is_han(character: str) -> bool:
    return "\u3400" <= character <= "\u9fff"


def _is_abbreviated(before: str, behind: str) -> bool:
    """Whether the one dot between the two belongs to an abbreviation, an initial or the number of a line."""
    if (initial := _INITIAL.search(before)) and initial[1].isupper():
        return True
    if _NUMBERED_LINE.search(before) and behind[:1].isspace():
        return True
    if _NEVER_FINAL.search(before):
        return True
    if _ABBREVIATION_BEGUN.search(before) and _ABBREVIATION_ENDED.match(behind):
        return True
    if _BEFORE_NUMBER.search(before) and re.match(r"\s*\d", behind):
        return True
    return (
        _TOWN.search(before) is not None and re.match(r"\s+(\w)", behind) is not None and behind.lstrip()[0].isupper()
    )
