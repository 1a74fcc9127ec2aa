"""JSON without the leniencies of Python's `json`: what two readers could understand differently is an error.

Duplicate keys, NaN and Infinity, numbers beyond double or integer range, nesting deeper than `MAX_DEPTH`, and strings
that cannot be stored as UTF-8 text in a database (lone surrogates, NUL) all raise `StrictJsonError`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Literal, NoReturn

Reason = Literal[
    "not_json",
    "truncated",
    "duplicate_keys",
    "number_out_of_range",
    "too_deep",
    "lone_surrogate",
    "nul_character",
]

# Python's own limit depends on how deep the caller's stack already is; a fixed one gives the same answer everywhere.
MAX_DEPTH = 64

_WHITESPACE = " \t\n\r"
_UNFINISHED_SCALAR = re.compile(r"t|tr|tru|f|fa|fal|fals|n|nu|nul|-|\.|(\.\d+)?[eE][+-]?")
_UNFINISHED_ESCAPE = re.compile(r"u[0-9a-fA-F]{0,4}")
_UNSTORABLE_ESCAPE = re.compile(r"\\u(0000|[dD][89a-fA-F])")


class StrictJsonError(ValueError):
    """Text that is not strict JSON. `reason` is a code, `detail` a sentence without its full stop."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason: Reason = reason
        self.detail = detail


def loads(text: str) -> Any:
    """The one JSON value in `text`. Raises StrictJsonError; anything but white space after the value is `not_json`."""
    start = len(text) - len(text.lstrip(_WHITESPACE))
    value, end = decode_at(text, start)
    if text[end:].strip(_WHITESPACE):
        raise StrictJsonError("not_json", f"there is more text after the JSON value ends at character {end}")
    return value


def decode_at(text: str, start: int) -> tuple[Any, int]:
    """The JSON value that begins exactly at `start`, and the index behind it. Raises StrictJsonError.

    The reason is `truncated` when the text ends before the value does, that is, when more text could complete it.
    """
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        if _ends_early(text, error):
            raise StrictJsonError("truncated", f"the text ends at character {len(text)}, inside a JSON value") from None
        raise StrictJsonError("not_json", f"it is not JSON at character {error.pos} ({error.msg})") from None
    except RecursionError:
        raise StrictJsonError("too_deep", f"it is nested more than {MAX_DEPTH} levels deep") from None
    _check_depth(value, text, start, end)
    if _UNSTORABLE_ESCAPE.search(text, start, end):
        _check_storable(value)
    return value, end


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        repeated = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise StrictJsonError("duplicate_keys", f"the key {repeated!r} occurs twice in one object")
    return members


def _reject_constant(literal: str) -> NoReturn:
    raise StrictJsonError("not_json", f"{literal} is not JSON, which writes a missing number as null")


def _integer(literal: str) -> int:
    try:
        return int(literal)
    except ValueError:
        raise StrictJsonError("number_out_of_range", f"it has an integer of {len(literal)} digits") from None


def _number(literal: str) -> float:
    value = float(literal)
    if math.isinf(value):
        raise StrictJsonError("number_out_of_range", f"the number {literal[:40]} is beyond double precision")
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_reject_constant, parse_int=_integer, parse_float=_number
)


def _ends_early(text: str, error: json.JSONDecodeError) -> bool:
    rest = text[error.pos :].rstrip(_WHITESPACE)
    if not rest or error.msg.startswith("Unterminated string"):
        return True
    unfinished = _UNFINISHED_ESCAPE if error.msg.startswith("Invalid \\u") else _UNFINISHED_SCALAR
    return unfinished.fullmatch(rest) is not None


def _check_depth(value: Any, text: str, start: int, end: int) -> None:
    if text.count("{", start, end) + text.count("[", start, end) <= MAX_DEPTH:
        return
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [child for parent in level for child in _children(parent) if isinstance(child, dict | list)]
        if not level:
            return
    raise StrictJsonError("too_deep", f"it is nested more than {MAX_DEPTH} levels deep")


def _check_storable(value: Any) -> None:
    for text in _strings(value):
        if "\0" in text:
            raise StrictJsonError("nul_character", "it has a NUL character (\\u0000), which SQL clients cut strings at")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise StrictJsonError(
                "lone_surrogate", "it has half of a surrogate pair (\\ud800 to \\udfff), which is not a character"
            ) from None


def _children(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _strings(value: Any) -> Iterator[str]:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            yield from item
        pending.extend(_children(item))
