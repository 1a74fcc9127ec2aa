"""From an extractor's raw answer to argument units, or a failure with its reason.

A strict JSON parse is the result. Only wrapping that can be taken off without losing or inventing content is taken
off, and each kind leaves a label; everything that would have to be guessed is a failure. The raw answer is the
caller's to keep: nothing here changes it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from ingest import strict_json

Label = Literal[
    "bom",
    "reasoning_block",
    "fence",
    "unpaired_fence",
    "surrounding_text",
    "bare_list",
    "missing_field",
    "blank_claim",
    "too_many_units",
    "extra_answer_fields",
    "extra_unit_fields",
]
"""What was taken off, and what was unusual, in an answer that could be parsed."""

FailureReason = Literal[
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
    "not_an_object",
    "missing_arguments",
    "arguments_not_a_list",
    "unit_not_an_object",
    "missing_claim",
    "field_not_a_string",
    "no_arguments",
]
FAILURE_REASONS: frozenset[str] = frozenset(get_args(FailureReason))
LABELS: tuple[Label, ...] = get_args(Label)

MAX_UNITS = 4
TEXT_FIELDS = ("claim", "warrant", "evidence_or_example", "argument_type")

_BOM = "\ufeff"
_REASONING_OPEN = re.compile(r"<(think|thinking|reasoning)>", re.IGNORECASE)
_REASONING_TAG = re.compile(r"</?(?:think|thinking|reasoning)>", re.IGNORECASE)
_FENCE_OPEN = re.compile(r"```[ \t]*[\w+-]*")
_LIST_OF_UNITS = re.compile(r"(?:```[ \t]*[\w+-]*)?\s*(\[)\s*[{\]]")
_FENCE = "```"


@dataclass(frozen=True)
class Unit:
    """One argument unit as the extractor delivered it; a NULL or missing text is an empty string.

    `extra` holds fields beyond the four.
    """

    claim: str
    warrant: str
    evidence_or_example: str
    argument_type: str
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Parsed:
    """An answer's units in the extractor's order, blank claims dropped. `extra` holds fields beside `arguments`."""

    units: tuple[Unit, ...]
    labels: tuple[Label, ...]
    n_blank_claims: int
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Failed:
    """An answer that has no certain reading."""

    reason: FailureReason
    n_blank_claims: int = 0


class _Failure(Exception):
    def __init__(self, reason: FailureReason, n_blank_claims: int = 0) -> None:
        super().__init__(reason)
        self.outcome = Failed(reason, n_blank_claims)


def parse_answer(raw: str) -> Parsed | Failed:
    """The argument units of an extractor's answer. Never raises for any string."""
    labels: set[Label] = set()
    try:
        value = _unwrapped(raw, labels)
        return _parsed(value, labels)
    except strict_json.StrictJsonError as error:
        return Failed(error.reason)
    except _Failure as failure:
        return failure.outcome


def _unwrapped(raw: str, labels: set[Label]) -> Any:
    """The one JSON value of the answer; adds the label of each wrapping taken off."""
    text = raw
    if text.startswith(_BOM):
        text = text.removeprefix(_BOM)
        labels.add("bom")
    text = text.strip()
    if not text:
        raise _Failure("empty")
    if not _is_encodable(text):
        raise _Failure("lone_surrogate")
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


def _without_reasoning(text: str, labels: set[Label]) -> str:
    """The text behind a leading reasoning block.

    A block inside a block, or one without an end, leaves open where the reasoning stops and the answer begins.
    """
    opening = _REASONING_OPEN.match(text)
    if opening is None:
        return text
    closing = re.compile(f"</{opening[1]}>", re.IGNORECASE).search(text, opening.end())
    if closing is None:
        raise _Failure("unclosed_reasoning_block")
    if _REASONING_TAG.search(text, opening.end(), closing.start()):
        raise _Failure("several_reasoning_blocks")
    labels.add("reasoning_block")
    answer = text[closing.end() :].strip()
    if not answer:
        raise _Failure("empty")
    return answer


def _start_of_value(text: str) -> int | None:
    """Where the JSON value begins: at a list if nothing but a fence is before it, else at the first brace."""
    units = _LIST_OF_UNITS.match(text)
    if units is not None:
        return units.start(1)
    start = text.find("{")
    return None if start < 0 else start


def _without_fence(before: str, after: str, labels: set[Label]) -> tuple[str, str]:
    n_before, n_after = before.count(_FENCE), after.count(_FENCE)
    if n_before == n_after == 0:
        return before, after
    if n_before > 1 or n_after > 1:
        raise _Failure("several_objects" if _has_object(after) else "several_fences")
    labels.add("fence")
    if n_before != n_after:
        labels.add("unpaired_fence")
    return _FENCE_OPEN.sub("", before), after.replace(_FENCE, "")


def _check_surroundings(before: str, after: str, value: Any, labels: set[Label]) -> None:
    """Text around an object may be taken off unless it could belong to the answer's data."""
    if not (before.strip() or after.strip()):
        return
    if _has_object(after):
        raise _Failure("several_objects")
    # A brace is data out of place; an unpaired bracket is one end of a list whose other end is missing.
    if not isinstance(value, dict) or _has_brace(before + after) or _has_unpaired_bracket(before, after):
        raise _Failure("not_json")
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


def _check_reasoning_around(before: str, after: str, labels: set[Label]) -> None:
    tags = _REASONING_TAG.findall(before)
    if tags and not tags[-1].startswith("</"):
        raise _Failure("unclosed_reasoning_block")
    if "reasoning_block" in labels and (tags or _REASONING_TAG.search(after)):
        raise _Failure("several_reasoning_blocks")


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


def _parsed(value: Any, labels: set[Label]) -> Parsed:
    extra: dict[str, Any] = {}
    if isinstance(value, list):
        labels.add("bare_list")
        delivered = value
    elif isinstance(value, dict):
        if "arguments" not in value:
            raise _Failure("missing_arguments")
        delivered = value["arguments"]
        extra = {name: item for name, item in value.items() if name != "arguments"}
    else:
        raise _Failure("not_an_object")
    if delivered is None:
        raise _Failure("no_arguments")
    if not isinstance(delivered, list):
        raise _Failure("arguments_not_a_list")
    units = [_unit(item, labels) for item in delivered]
    kept = tuple(unit for unit in units if unit.claim.strip())
    n_blank_claims = len(units) - len(kept)
    if not kept:
        raise _Failure("no_arguments", n_blank_claims)
    if n_blank_claims:
        labels.add("blank_claim")
    if len(kept) > MAX_UNITS:
        labels.add("too_many_units")
    if extra:
        labels.add("extra_answer_fields")
    return Parsed(kept, tuple(label for label in LABELS if label in labels), n_blank_claims, extra)


def _unit(item: Any, labels: set[Label]) -> Unit:
    if not isinstance(item, dict):
        raise _Failure("unit_not_an_object")
    if "claim" not in item:
        raise _Failure("missing_claim")
    texts: dict[str, str] = {}
    for name in TEXT_FIELDS:
        if name not in item:
            labels.add("missing_field")
        text = item.get(name)
        if text is not None and not isinstance(text, str):
            raise _Failure("field_not_a_string")
        texts[name] = text or ""
    extra = {name: content for name, content in item.items() if name not in TEXT_FIELDS}
    if extra:
        labels.add("extra_unit_fields")
    return Unit(**texts, extra=extra)
