"""From one delivered record to typed rows, or the reason why it cannot be used.

Nothing is coerced: a `turn_index` of "3", 3.0 or true is a wrong type in JSON. CSV has no types, so its cells are read
as what their column holds, and only when the text says it exactly (`3`, `0.5`, `true` in any case).
Fields beyond the contract are kept in `extra`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ingest.archive.lines import Unusable
from ingest.reference import turn_term

Record = Mapping[str, Any]
Row = dict[str, Any]
Check = Callable[[str, Any], Any]

_INT32_MAX = 2**31 - 1
_INT64_MAX = 2**63 - 1


@dataclass(frozen=True)
class Field:
    """A field of a record: its name, how its value is checked, and whether it must be there."""

    name: str
    check: Check
    required: bool = False


def rows_of(table: str, record: Record) -> list[Row]:
    """The rows (without provenance) that a record stands for: one, or one per language for a motion.

    Raises Unusable.
    """
    return _READERS[table](record)


def record_id(table: str, record: Record) -> str | None:
    """What to call a record in the rejects table: its key as far as it is there, joined by slashes."""
    parts = [str(record[name]) for name in _ID_FIELDS[table] if isinstance(record.get(name), str | int)]
    return "/".join(parts) or None


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, int | float):
        return f"the number {str(value)[:40]}"
    return "an object" if isinstance(value, dict) else "a list"


def _wrong_type(name: str, value: Any, wanted: str) -> Unusable:
    return Unusable("wrong_type", f"{name} is {_kind(value)}; write {wanted}.")


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _wrong_type(name, value, "a string")
    return value


def _turn_term(name: str, value: Any) -> str | None:
    return turn_term(name, _text(name, value)) if _text(name, value).strip() else None


def _identifier(name: str, value: Any) -> str:
    if not _text(name, value).strip():
        raise Unusable("empty_id", f"{name} is blank; give it a value.")
    return value


def _choice(*allowed: str) -> Check:
    def check(name: str, value: Any) -> str:
        if _text(name, value) not in allowed:
            raise Unusable("unexpected_value", f"{name} is {value[:80]!r}; write {' or '.join(allowed)}.")
        return value

    return check


def _integer(low: int, high: int) -> Check:
    def check(name: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise _wrong_type(name, value, "a whole number")
        if not low <= value <= high:
            raise Unusable("out_of_range", f"{name} is {str(value)[:40]}; write a number from {low} to {high}.")
        return value

    return check


def _boolean(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _wrong_type(name, value, "true or false")
    return value


def _string_map(name: str, value: Any) -> list[tuple[str, str | None]]:
    if not isinstance(value, dict):
        raise _wrong_type(name, value, "an object of strings")
    return [(key, None if item is None else _text(f"{name}.{key}", item)) for key, item in value.items()]


def _role_mapping(name: str, value: Any) -> list[tuple[str, str | None]]:
    mapping: dict[str, str | None] = {}
    for spelling, agent in _string_map(name, value):
        role = turn_term("role", spelling)
        if mapping.setdefault(role, agent) != agent:
            raise Unusable("ambiguous_role", f"{name} gives {role} two agents, in two spellings; keep the right one.")
    return list(mapping.items())


def _object(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong_type(name, value, "an object")
    return value


def _integer_cell(low: int, high: int) -> Check:
    check = _integer(low, high)

    def check_cell(name: str, value: str) -> int:
        if not re.fullmatch(r"-?[0-9]{1,19}", value):
            raise Unusable("wrong_type", f"{name} is {value[:80]!r}; write a whole number.")
        return check(name, int(value))

    return check_cell


def _number_cell(name: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise Unusable("wrong_type", f"{name} is {value[:80]!r}; write a number such as 4.0625.")
    return number


def _boolean_cell(name: str, value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise Unusable("wrong_type", f"{name} is {value[:80]!r}; write true or false.")
    return value.lower() == "true"


_turn_index = _integer(1, _INT32_MAX)
_round = _integer(1, _INT32_MAX)
_tokens = _integer(0, _INT64_MAX)

_MOTION = (
    Field("motion_id", _identifier, required=True),
    Field("source", _text),
    Field("texts", _object, required=True),
    Field("qa", _object),
)
_MOTION_QA = (
    Field("back_translation", _text),
    Field("adequacy_score", _integer(-_INT32_MAX, _INT32_MAX)),
    Field("preserves_actor", _boolean),
    Field("preserves_policy_action", _boolean),
    Field("preserves_stance_or_burden", _boolean),
    Field("preserves_scope", _boolean),
    Field("preserves_key_terms", _boolean),
    Field("issue_type", _text),
    Field("brief_reason", _text),
    Field("triage", _text),
)
_SESSION = (
    Field("session_id", _identifier, required=True),
    Field("motion_id", _identifier, required=True),
    Field("motion_text", _text, required=True),
    Field("language", _identifier, required=True),
    Field("condition", _identifier, required=True),
    Field("repeat", _integer(1, _INT32_MAX)),
    Field("role_mapping", _role_mapping),
    Field("agents", _string_map),
    Field("status", _choice("complete", "partial", "failed")),
    Field("started_at", _text),
    Field("finished_at", _text),
    Field("source", _text),
)
_TURN = (
    Field("session_id", _identifier, required=True),
    Field("turn_index", _turn_index, required=True),
    Field("phase", _turn_term),
    Field("role", _turn_term),
    Field("side", _turn_term),
    Field("agent", _text),
    Field("model_id", _text),
    Field("text", _text, required=True),
    Field("prompt_sha256", _text),
    Field("finish_reason", _text),
    Field("usage", _object),
    Field("created_at", _text),
)
_USAGE = (Field("input_tokens", _tokens), Field("output_tokens", _tokens))
_EXTRACTION = (
    Field("session_id", _identifier, required=True),
    Field("turn_index", _turn_index, required=True),
    Field("extractor", _identifier, required=True),
    Field("raw_response", _text, required=True),
    Field("finish_reason", _text),
    Field("created_at", _text),
)
_JUDGMENT = (
    Field("instrument", _choice("pair_judge", "function", "outcome"), required=True),
    Field("judge", _identifier, required=True),
    Field("round", _round),
    Field("session_id", _identifier),
    Field("argument_id", _identifier),
    Field("nearest_argument_id", _identifier),
    Field("n_turns", _round),
    Field("raw_response", _text, required=True),
    Field("created_at", _text),
)
_ANNOTATION = (
    Field("task", _choice("repetition", "extraction"), required=True),
    Field("annotator", _identifier, required=True),
    Field("round", _integer_cell(1, _INT32_MAX)),
    Field("argument_id", _identifier),
    Field("nearest_argument_id", _identifier),
    Field("session_id", _identifier),
    Field("turn_index", _integer_cell(1, _INT32_MAX)),
    Field("label", _integer_cell(0, 3)),
    Field("quality", _integer_cell(1, 5)),
    Field("all_major_captured", _boolean_cell),
    Field("over_split", _boolean_cell),
    Field("under_split", _boolean_cell),
    Field("hallucination", _boolean_cell),
    Field("missing_major", _boolean_cell),
    Field("stratum", _text),
    Field("weight", _number_cell),
    Field("note", _text),
    Field("created_at", _text),
)
ANNOTATION_COLUMNS = tuple(field.name for field in _ANNOTATION if field.required)

# What an instrument or a task is about: these fields are required of it on top of the ones above.
_ABOUT = {
    "pair_judge": ("argument_id", "nearest_argument_id"),
    "function": ("argument_id", "nearest_argument_id"),
    "outcome": ("session_id",),
    "repetition": ("argument_id", "nearest_argument_id", "label"),
    "extraction": ("session_id", "turn_index"),
}

_ID_FIELDS = {
    "motions": ("motion_id",),
    "sessions": ("session_id",),
    "turns": ("session_id", "turn_index"),
    "extractions": ("session_id", "turn_index", "extractor"),
    "annotations": ("task", "annotator", "argument_id", "session_id", "turn_index"),
    "judgments": ("instrument", "judge", "argument_id", "session_id"),
}


def _checked(record: Record, fields: tuple[Field, ...], prefix: str = "") -> Row:
    row: Row = {}
    for field in fields:
        value = record.get(field.name)
        if value is None:
            if field.required:
                raise Unusable("missing_field", f"{prefix}{field.name} is missing or null; it is required.")
            row[field.name] = None
        else:
            row[field.name] = field.check(prefix + field.name, value)
    return row


def _beyond(record: Record, fields: tuple[Field, ...]) -> dict[str, Any]:
    known = {field.name for field in fields}
    return {name: value for name, value in record.items() if name not in known}


def _as_extra(unknown: dict[str, Any]) -> str | None:
    return json.dumps(unknown, ensure_ascii=False, sort_keys=True) if unknown else None


def _flat_reader(fields: tuple[Field, ...]) -> Callable[[Record], list[Row]]:
    def read(record: Record) -> list[Row]:
        return [{**_checked(record, fields), "extra": _as_extra(_beyond(record, fields))}]

    return read


def _instrument_reader(fields: tuple[Field, ...], kind: str) -> Callable[[Record], list[Row]]:
    read_flat = _flat_reader(fields)

    def read(record: Record) -> list[Row]:
        rows = read_flat(record)
        for name in _ABOUT[rows[0][kind]]:
            if rows[0][name] is None:
                raise Unusable("missing_field", f"{name} is missing; {kind} {rows[0][kind]!r} requires it.")
        return rows

    return read


def _read_turn(record: Record) -> list[Row]:
    row = _checked(record, _TURN)
    usage = row.pop("usage") or {}
    unknown = _beyond(record, _TURN)
    if unknown_usage := _beyond(usage, _USAGE):
        unknown["usage"] = unknown_usage
    return [{**row, **_checked(usage, _USAGE, "usage."), "extra": _as_extra(unknown)}]


def _read_motion(record: Record) -> list[Row]:
    motion = _checked(record, _MOTION)
    qa = motion["qa"] or {}
    texts = {
        language: _text(f"texts.{language}", text) for language, text in motion["texts"].items() if text is not None
    }
    if not texts:
        raise Unusable("missing_field", "texts has no language; give the motion's text in at least one.")
    unknown = _beyond(record, _MOTION)
    # Quality data on a text that is not there has no row of its own.
    if qa_without_text := {language: answer for language, answer in qa.items() if language not in texts}:
        unknown["qa"] = qa_without_text
    rows = []
    for language, text in texts.items():
        answer = {} if qa.get(language) is None else _object(f"qa.{language}", qa[language])
        beyond = dict(unknown)
        if unknown_answer := _beyond(answer, _MOTION_QA):
            beyond["qa"] = {**beyond.get("qa", {}), language: unknown_answer}
        rows.append(
            {
                "motion_id": motion["motion_id"],
                "source": motion["source"],
                "language": language,
                "motion_text": text,
                **_checked(answer, _MOTION_QA, f"qa.{language}."),
                "extra": _as_extra(beyond),
            }
        )
    return rows


_READERS: dict[str, Callable[[Record], list[Row]]] = {
    "motions": _read_motion,
    "sessions": _flat_reader(_SESSION),
    "turns": _read_turn,
    "extractions": _flat_reader(_EXTRACTION),
    "annotations": _instrument_reader(_ANNOTATION, "task"),
    "judgments": _instrument_reader(_JUDGMENT, "instrument"),
}
