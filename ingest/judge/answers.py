"""From a judge's raw answer to what it decided, or a failure with its reason.

The reading is that of extractor answers (`ingest.parse.answer`): strict JSON, known wrapping taken off, nothing
guessed. A value that is not exactly what was asked for ("3", 7.5, true, a score of 11) fails the whole answer: half a
judgment is not a judgment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from ingest.parse.answer import Unreadable, UnreadableAnswer, Wrapping, answer_value

Instrument = Literal["pair_judge", "function", "outcome"]

FunctionCode = Literal[
    "redundant_restatement",
    "rebuttal_or_response",
    "refinement_or_extension",
    "quotation_or_reference",
    "unclear_or_other",
]
FUNCTIONS: tuple[FunctionCode, ...] = get_args(FunctionCode)

DIMENSIONS = ("argumentative_development", "engagement", "final_argument_quality", "overall_quality")
LABEL_RANGE = (0, 3)
SCORE_RANGE = (1, 10)

Label = Literal[Wrapping, "respelled", "extra_fields"]
"""What was taken off, and what was unusual, in an answer that could be read."""

FailureReason = Literal[
    Unreadable,
    "not_an_object",
    "missing_value",
    "not_an_integer",
    "out_of_range",
    "not_a_string",
    "unknown_function",
]
LABELS: tuple[str, ...] = get_args(Label)
FAILURE_REASONS: frozenset[str] = frozenset(get_args(FailureReason))


@dataclass(frozen=True)
class Judgment:
    """What every judgment has: the judge's reason in words, labels, and fields beyond what was asked for."""

    rationale: str | None
    labels: tuple[str, ...]
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PairLabel(Judgment):
    """0 new, 1 topically related, 2 partial repetition or extension, 3 substantive repetition."""

    label: int = field(kw_only=True)


@dataclass(frozen=True)
class FunctionLabel(Judgment):
    """What a later argument does with the earlier one it is close to."""

    function: FunctionCode = field(kw_only=True)


@dataclass(frozen=True)
class OutcomeScores(Judgment):
    """One whole number from 1 to 10 per dimension of `DIMENSIONS`."""

    scores: Mapping[str, int] = field(kw_only=True)


@dataclass(frozen=True)
class FailedJudgment:
    """An answer that has no certain reading."""

    reason: FailureReason


class _Failure(Exception):
    def __init__(self, reason: FailureReason) -> None:
        super().__init__(reason)
        self.reason: FailureReason = reason


def parse_judgment(instrument: Instrument, raw: str) -> Judgment | FailedJudgment:
    """What the answer `raw` to `instrument` says. Never raises for any string."""
    labels: set[str] = set()
    try:
        value = answer_value(raw, labels)
        if not isinstance(value, dict):
            raise _Failure("not_an_object")
        return _READERS[instrument](value, labels)
    except (UnreadableAnswer, _Failure) as error:
        return FailedJudgment(error.reason)


def _pair_label(answer: dict[str, Any], labels: set[str]) -> PairLabel:
    return PairLabel(label=_integer(answer, "label", LABEL_RANGE), **_common(answer, ("label",), "reason", labels))


def _function_label(answer: dict[str, Any], labels: set[str]) -> FunctionLabel:
    written = _text(answer, "function")
    if written is None:
        raise _Failure("missing_value")
    # "Rebuttal or response" names the category as surely as its code does.
    code = "_".join(written.casefold().replace("_", " ").split())
    if code not in FUNCTIONS:
        raise _Failure("unknown_function")
    if code != written:
        labels.add("respelled")
    return FunctionLabel(function=code, **_common(answer, ("function",), "reason", labels))


def _outcome_scores(answer: dict[str, Any], labels: set[str]) -> OutcomeScores:
    scores = {dimension: _integer(answer, dimension, SCORE_RANGE) for dimension in DIMENSIONS}
    return OutcomeScores(scores=scores, **_common(answer, DIMENSIONS, "brief_rationale", labels))


_READERS: dict[Instrument, Callable[[dict[str, Any], set[str]], Judgment]] = {
    "pair_judge": _pair_label,
    "function": _function_label,
    "outcome": _outcome_scores,
}


def _common(answer: dict[str, Any], asked: tuple[str, ...], rationale: str, labels: set[str]) -> dict[str, Any]:
    extra = {name: value for name, value in answer.items() if name not in (*asked, rationale)}
    if extra:
        labels.add("extra_fields")
    return {
        "rationale": _text(answer, rationale),
        "labels": tuple(label for label in LABELS if label in labels),
        "extra": extra,
    }


def _integer(answer: dict[str, Any], name: str, allowed: tuple[int, int]) -> int:
    value = answer.get(name)
    if value is None:
        raise _Failure("missing_value")
    if isinstance(value, bool) or not isinstance(value, int):
        raise _Failure("not_an_integer")
    if not allowed[0] <= value <= allowed[1]:
        raise _Failure("out_of_range")
    return value


def _text(answer: dict[str, Any], name: str) -> str | None:
    value = answer.get(name)
    if value is not None and not isinstance(value, str):
        raise _Failure("not_a_string")
    return value
