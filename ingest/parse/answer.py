"""The one JSON value of a model's answer, or the reason why there is no certain one.

A strict JSON parse is the result. Only wrapping that can be taken off without losing or inventing content is taken
off, and each kind leaves a label; everything that would have to be guessed is unreadable.
"""

from __future__ import annotations

import re
from typing import Any, Literal

from ingest import strict_json

Wrapping = Literal["bom", "reasoning_block", "fence", "unpaired_fence", "surrounding_text"]
"""What was taken off around the value."""

Unreadable = Literal[
    "empty",
    "not_json",
    "truncated",
    "several_objects",
    "duplicate_keys",
    "number_out_of_range",
    "too_deep",
    "lone_surrogate",
    "nul_character",
    "unclosed_reasoning_block",
    "several_reasoning_blocks",
    "several_fences",
]

_BOM = "\ufeff"
_REASONING_OPEN = re.compile(r"<(think|thinking|reasoning)>", re.IGNORECASE)
_REASONING_TAG = re.compile(r"</?(?:think|thinking|reasoning)>", re.IGNORECASE)
_FENCE_OPEN = re.compile(r"```[ \t]*[\w+-]*")
_LIST_OF_UNITS = re.compile(r"(?:```[ \t]*[\w+-]*)?\s*(\[)\s*[{\]]")
_FENCE = "```"


class UnreadableAnswer(ValueError):
    """An answer without one certain JSON value; `reason` is a code."""

    def __init__(self, reason: Unreadable) -> None:
        super().__init__(reason)
        self.reason: Unreadable = reason


def answer_value(raw: str, labels: set[str]) -> Any:
    """The one JSON value of the answer `raw`; adds to `labels` the wrapping taken off. Raises UnreadableAnswer."""
    try:
        return _unwrapped(raw, labels)
    except strict_json.StrictJsonError as error:
        raise UnreadableAnswer(error.reason) from error


def _unwrapped(raw: str, labels: set[str]) -> Any:
    text = raw
    if text.startswith(_BOM):
        text = text.removeprefix(_BOM)
        labels.add("bom")
    text = text.strip()
    if not text:
        raise UnreadableAnswer("empty")
    if not _is_encodable(text):
        raise UnreadableAnswer("lone_surrogate")
    try:
        return strict_json.loads(text)
    except strict_json.StrictJsonError as error:
        strict_error = error
    text = _without_reasoning(text, labels)
    start = _start_of_value(text)
    if start is None:
        raise strict_error
    value, end = strict_json.decode_at(text, start)
    before, after = _without_fence(text[:start], text[end:], labels)
    _check_surroundings(before, after, value, labels)
    return value


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _without_reasoning(text: str, labels: set[str]) -> str:
    """The text behind a leading reasoning block.

    A block inside a block, or one without an end, leaves open where the reasoning stops and the answer begins.
    """
    opening = _REASONING_OPEN.match(text)
    if opening is None:
        return text
    closing = re.compile(f"</{opening[1]}>", re.IGNORECASE).search(text, opening.end())
    if closing is None:
        raise UnreadableAnswer("unclosed_reasoning_block")
    if _REASONING_TAG.search(text, opening.end(), closing.start()):
        raise UnreadableAnswer("several_reasoning_blocks")
    labels.add("reasoning_block")
    answer = text[closing.end() :].strip()
    if not answer:
        raise UnreadableAnswer("empty")
    return answer


def _start_of_value(text: str) -> int | None:
    """Where the JSON value begins: at a list if nothing but a fence is before it, else at the first brace."""
    units = _LIST_OF_UNITS.match(text)
    if units is not None:
        return units.start(1)
    start = text.find("{")
    return None if start < 0 else start


def _without_fence(before: str, after: str, labels: set[str]) -> tuple[str, str]:
    n_before, n_after = before.count(_FENCE), after.count(_FENCE)
    if n_before == n_after == 0:
        return before, after
    if n_before > 1 or n_after > 1:
        raise UnreadableAnswer("several_objects" if _has_object(after) else "several_fences")
    labels.add("fence")
    if n_before != n_after:
        labels.add("unpaired_fence")
    return _FENCE_OPEN.sub("", before), after.replace(_FENCE, "")


def _check_surroundings(before: str, after: str, value: Any, labels: set[str]) -> None:
    """Text around an object may be taken off unless it could belong to the answer's data."""
    if not (before.strip() or after.strip()):
        return
    if _has_object(after):
        raise UnreadableAnswer("several_objects")
    # A brace is data out of place; an unpaired bracket is one end of a list whose other end is missing.
    if not isinstance(value, dict) or _has_brace(before + after) or _has_unpaired_bracket(before, after):
        raise UnreadableAnswer("not_json")
    _check_reasoning_around(before, after, labels)
    labels.add("surrounding_text")


def _has_object(text: str) -> bool:
    start = text.find("{")
    if start < 0:
        return False
    try:
        strict_json.decode_at(text, start)
    except strict_json.StrictJsonError as error:
        return error.reason != "not_json"
    return True


def _has_brace(text: str) -> bool:
    return "{" in text or "}" in text


def _check_reasoning_around(before: str, after: str, labels: set[str]) -> None:
    tags = _REASONING_TAG.findall(before)
    if tags and not tags[-1].startswith("</"):
        raise UnreadableAnswer("unclosed_reasoning_block")
    if "reasoning_block" in labels and (tags or _REASONING_TAG.search(after)):
        raise UnreadableAnswer("several_reasoning_blocks")


def _has_unpaired_bracket(*texts: str) -> bool:
    for text in texts:
        depth = 0
        for character in text:
            depth += (character == "[") - (character == "]")
            if depth < 0:
                return True
        if depth > 0:
            return True
    return False
