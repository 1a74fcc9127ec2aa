"""What can be wrong with a speech's text: seen and said, and changed only where a database could not hold it."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from typing import Any

from ftfy.badness import is_bad

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_BLOCK = re.compile(r"<(think|thinking|reasoning)>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"</?(?:think|thinking|reasoning)>", re.IGNORECASE)
_SECOND_SCRIPT_SHARE = 0.1
# Japanese and Korean are written in several of these at once.
_ONE_SCRIPT = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "HANGUL": "CJK"}


def joined_parts(value: list[Any]) -> tuple[str, int]:
    """The text of a list of parts (strings, or objects with a text), blank lines between, and how many have none."""
    texts = [part if isinstance(part, str) else part.get("text") if isinstance(part, dict) else None for part in value]
    spoken = [text for text in texts if isinstance(text, str)]
    return "\n\n".join(spoken), len(texts) - len(spoken)


def storable(text: str) -> tuple[str, int]:
    """The text without NULs and halves of surrogate pairs (U+FFFD in their place), and how many there were."""
    return _UNSTORABLE.subn("\ufffd", text)


def without_reasoning(text: str) -> tuple[str, str | None, bool]:
    """The text outside reasoning blocks, what was inside (None without a block), and whether a block has no clear end.

    With an unpaired or nested tag nobody can tell reasoning from speech, so nothing is taken out.
    """
    if not _TAG.search(text):
        return text, None, False
    inside = [match[2] for match in _BLOCK.finditer(text)]
    rest = _BLOCK.sub("", text)
    if _TAG.search(rest) or any(_TAG.search(block) for block in inside):
        return text, None, True
    return rest.strip(), "\n\n".join(block.strip() for block in inside), False


def is_mojibake(text: str) -> bool:
    """Whether the text looks like UTF-8 that was read in another encoding (ftfy's measure)."""
    return is_bad(text)


def second_script(text: str) -> str | None:
    """The names of the two most used scripts when the second has a tenth of the letters or more, else None."""
    scripts = Counter(_script(character) for character in text if character.isalpha())
    if len(scripts) < 2:
        return None
    (first, _), (second, count) = scripts.most_common(2)
    return f"{first} and {second}" if count >= _SECOND_SCRIPT_SHARE * scripts.total() else None


def plain(text: str) -> str:
    """The text's letters and digits alone, in one width and case: what is equal here differs in typesetting only."""
    return "".join(character for character in unicodedata.normalize("NFKC", text).casefold() if character.isalnum())


@lru_cache(maxsize=65536)
def _script(character: str) -> str:
    name = unicodedata.name(character, "UNKNOWN").split(" ")[0].split("-")[0]
    return _ONE_SCRIPT.get(name, name)
