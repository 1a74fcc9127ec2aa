"""From an extractor's raw answer to argument units, or a failure with its reason.

A strict JSON parse is the result (`ingest.parse.answer`); everything that would have to be guessed is a failure. The
raw answer is the caller's to keep: nothing here changes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from ingest.parse.answer import Unreadable, UnreadableAnswer, Wrapping, answer_value

Label = Literal[
    Wrapping,
    "bare_list",
    "missing_field",
    "blank_claim",
    "too_many_units",
    "extra_answer_fields",
    "extra_unit_fields",
]
"""What was taken off, and what was unusual, in an answer that could be parsed."""

FailureReason = Literal[
    Unreadable,
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
        value = answer_value(raw, labels)
        return _parsed(value, labels)
    except UnreadableAnswer as error:
        return Failed(error.reason)
    except _Failure as failure:
        return failure.outcome


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
