"""Whether a judge's prompt gives away what the judge must not know [paper G.1].

Names are looked for in whatever case, script of their family, width and spelling: "G.P.T-5 . 5", "ＣＬＡＵＤＥ" and
"Клод" are names. A name inside a word is none: "claudette" is not "claude".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

_FILE = Path(__file__).with_name("blinding.yaml")
# Cyrillic and Greek letters that look like Latin ones, by their case-folded form.
_LOOKALIKES = str.maketrans("асеорхуікмтвнгαοερυικντ", "aceopxyikmtbhraoepuiknt")
# Not letters of one script within a name, and what may stand between its letters.
_BETWEEN = r"[\W_]{0,3}"


@dataclass(frozen=True)
class Fault:
    """What gives something away: where it stands, of which kind it is, and how it is written there."""

    place: str
    kind: str
    found: str

    def __str__(self) -> str:
        return f"{self.place} holds {self.kind} ({self.found!r})"


def blinding_faults(texts: Mapping[str, str], names: Collection[str], conditions: Collection[str] = ()) -> list[Fault]:
    """What `texts`, by their place, give away: agents and models, conditions, similarities, other language versions.

    `names` are those of the study's agents, models and providers; the families of `blinding.yaml` are looked for
    anyway. A condition of one plain word (diversity) is an ordinary word of a debate and counts only with the word
    prompt or condition beside it; one that is no word of any language (p3_strong_novelty) always does.
    """
    searched = list(_patterns(frozenset(names), frozenset(conditions)))
    return [
        Fault(place, kind, match[0].strip())
        for place, text in texts.items()
        for form in _forms(text)
        for kind, pattern in searched
        if (match := pattern.search(form))
    ]


def _forms(text: str) -> Iterator[str]:
    """The text as it is compared: one width and case, without marks that are not seen; and with lookalikes as Latin."""
    plain = "".join(
        character for character in unicodedata.normalize("NFKC", text) if unicodedata.category(character) != "Cf"
    ).casefold()
    yield plain
    if (latin := plain.translate(_LOOKALIKES)) != plain:
        yield latin


@cache
def _patterns(names: frozenset[str], conditions: frozenset[str]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    declared: dict[str, Any] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    written = {*declared["families"], *(form for forms in declared["families"].values() for form in forms)}
    for name in names:
        # openai/gpt-5.5 is its parts too; a version alone (4, latest) names nobody.
        written |= {part for part in [name, *name.split("/")] if sum(character.isalpha() for character in part) >= 3}
    found = [("the name of an agent or a model", _name(form)) for form in sorted(written)]
    found += [
        ("the name of an agent or a model", re.compile(_name(form).pattern + rf"{_BETWEEN}\d"))
        for form in declared["families_with_version"]
    ]
    for condition in sorted(conditions):
        if condition.isalpha():
            word = re.escape(condition.casefold())
            beside = rf"\b{word}\W{{1,3}}(?:prompt|condition)\b|\b(?:prompt|condition)\W{{1,3}}{word}\b"
            found.append(("the name of a condition", re.compile(beside)))
        else:
            found.append(("the name of a condition", _name(condition)))
    found += [("a similarity", re.compile(pattern)) for pattern in declared["similarity"]]
    found += [
        ("a mention of another language version", re.compile(pattern)) for pattern in declared["language_versions"]
    ]
    return tuple(found)


def _name(name: str) -> re.Pattern[str]:
    """A name with anything but letters and digits between its letters, and no letter of its script around it."""
    letters = [character for character in unicodedata.normalize("NFKC", name).casefold() if character.isalnum()]
    around = "" if "\u4e00" <= letters[0] <= "\u9fff" else _alphabet(letters[0])
    # A digit behind a name is its version.
    before, after = (rf"(?<![{around}])", rf"(?![{around}])") if around else ("", "")
    return re.compile(before + _BETWEEN.join(map(re.escape, letters)) + after)


def _alphabet(letter: str) -> str:
    if letter.isdigit() or letter.isascii():
        return "a-zà-ÿ"
    return "\u0430-\u044f\u0451" if "\u0400" <= letter <= "\u04ff" else "\u0620-\u064a"
