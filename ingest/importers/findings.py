"""What an import left out, changed or noticed: counted, with examples for people and every case in a file."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

EXAMPLES = 3

# What became of what was found: lost to the archive, kept though unusual, or only counted.
LEFT_OUT = {
    "file_not_matched": "The mapping's files pattern does not match the file.",
    "file_unreadable": "The file cannot be read; of lines and rows, what precedes the damage is used.",
    "record_unreadable": "The line or row cannot be read.",
    "debate_unreadable": "A path of the mapping does not fit the debate.",
    "debate_without_turns": "No turn was found in the debate.",
    "language_absent": "The debate has no text in one of the mapping's languages.",
    "debate_repeated": "The debate is the same as another in every part; it counts once.",
    "item_not_selected": "The mapping's where leaves the item out.",
    "speech_missing": "The speech is marked as missing; its place stays empty and the debate counts as partial.",
    "turn_without_text": "The turn's text is not text.",
    "part_not_text": "A part of the turn is no text (an image, a call of a tool).",
    "claim_blank": "The claim is blank.",
    "claim_unplaced": "The claim's text is in no turn, so it is in no prior pool.",
    "claim_turn_unknown": "The claim names a turn that the debate does not have.",
}
KEPT = {
    "turn_empty": "The turn has no words; it is kept as an empty turn.",
    "turn_repeated": "The turn says the same, word for word, as an earlier one of its debate.",
    "reasoning_set_aside": "A reasoning block was taken out of the text; it is kept beside the turn.",
    "reasoning_unclosed": "A reasoning block has no clear end, so it stays in the text.",
    "debate_renumbered": "Another debate has the same id and another content; this one has a number behind its id.",
    "motion_text_differs": "The motion has another text than in an earlier debate; its debate keeps its own.",
    "motion_not_in_crosswalk": "The crosswalk file does not list the motion; it keeps its own id.",
    "language_unknown": "The language is unclear or not listed; it is `und`, undetermined.",
    "language_detected": "The language was detected from the text.",
    "status_unknown": "The status is not complete, partial or failed; it is left open.",
    "repeat_unreadable": "The repeat is not a whole number from 1; it is counted instead.",
    "character_replaced": "Characters that no database can store became U+FFFD.",
    "replacement_character": "The text holds U+FFFD: some earlier step lost a character.",
    "mojibake": "The text looks like UTF-8 that was read in another encoding; it is kept as it is.",
    "several_scripts": "The text has a tenth of its letters or more in a second script.",
    "number_as_null": "NaN or Infinity, which JSON does not have, was read as null.",
    "path_never_found": "Paths of the mapping found nothing in any debate.",
}
SENTENCES = LEFT_OUT | KEPT

# What the mapping asks for and cannot have: more may be lost than is seen.
UNREADABLE = ("file_unreadable", "record_unreadable", "debate_unreadable")


@dataclass(frozen=True)
class Finding:
    """One case: its kind (a key of `SENTENCES`), where it is, and what there is to say."""

    kind: str
    file: str
    place: str
    detail: str


class Findings:
    """Counts findings by kind, keeps the first few of each, and hands every one to `sink`."""

    def __init__(self, sink: Callable[[dict[str, Any]], None] | None = None) -> None:
        self.counts: Counter[str] = Counter()
        self.examples: defaultdict[str, list[Finding]] = defaultdict(list)
        self._sink = sink

    def add(self, kind: str, file: str, place: str, detail: str = "") -> None:
        finding = Finding(kind, file, place, detail or SENTENCES[kind])
        self.counts[kind] += 1
        if len(self.examples[kind]) < EXAMPLES:
            self.examples[kind].append(finding)
        if self._sink is not None:
            self._sink(vars(finding))
