"""The one reader of JSON Lines: strict JSON objects, one a line, each delivered or explained."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ingest import strict_json
from ingest.archive.lines import Delivered, Line, LineReader, Unusable, cut_note, decoded, raw_text

_REMEDIES: dict[strict_json.Reason, str] = {
    "not_json": "Write one JSON object a line.",
    "truncated": "Deliver the whole line again.",
    "duplicate_keys": "Keep the right one of the two.",
    "number_out_of_range": "Write it as a string, or correct it.",
    "too_deep": "Write the inner value as a string.",
    "lone_surrogate": "Write the character whole.",
    "nul_character": "Remove it.",
}


def read_jsonl(reader: LineReader) -> Iterator[Delivered]:
    """Every record of the file, in order. Blank lines are not records.

    CRLF and a byte order mark are tolerated. Raises UnreadableFile when a gzip stream is damaged.
    """
    for line in reader:
        if line.data.isspace() or not line.data:
            continue
        try:
            content: dict[str, Any] | Unusable = _object(line)
        except Unusable as unusable:
            content = Unusable(unusable.reason, unusable.detail + cut_note(line.size))
        yield Delivered(line.number, raw_text(line.data), line.size, content)


def _object(line: Line) -> dict[str, Any]:
    text = decoded(line)
    try:
        value = strict_json.loads(text)
    except strict_json.StrictJsonError as error:
        raise Unusable(error.reason, f"The line cannot be read: {error.detail}. {_REMEDIES[error.reason]}") from error
    if not isinstance(value, dict):
        raise Unusable("not_an_object", f"The line is JSON, but not an object. {_REMEDIES['not_json']}")
    return value
