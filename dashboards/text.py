"""The one place where text from the warehouse becomes HTML.

Turns, claims, motions and raw answers are written by models; names of agents, conditions and files come with an
archive. None of it is ever read as HTML or Markdown: what this module returns is escaped and goes through `st.html`,
which reads no Markdown. Places that take plain text only (selectbox options, table cells, chart tooltips) get `label`.

Passages carry their language and direction, are isolated from the text around them, and show the invisible characters
that reorder what is displayed, because a transcript is evidence and should read as it was written.
"""

import html
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

import streamlit as st

# `auto` is that of the first letter that has one.
Direction = Literal["ltr", "rtl", "auto"]

EM_DASH = "—"
MINUS = "−"

# C0 controls but tab and line ends, and the explicit embeddings, overrides and isolates of the bidirectional algorithm.
# The implicit marks (LRM, RLM, ALM) and the joiners stay: correct Arabic and Persian use them.
_INVISIBLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
_RIGHT_TO_LEFT = ("R", "AL", "AN")
_ISOLATE: dict[Direction, str] = {"ltr": "\u2066", "rtl": "\u2067", "auto": "\u2068"}
_END_ISOLATE = "\u2069"

STYLE = """
<style>
[data-testid="stMainBlockContainer"] { padding-top: 2.2rem; padding-bottom: 3rem; }
.rp-text { unicode-bidi: isolate; white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.6; margin: 0; }
.rp-text[dir=rtl] { text-align: right; }
.rp-label { font-size: 1.2rem; text-align: start; }
.rp-text:lang(ar) { font-family: "Noto Naskh Arabic", "Noto Sans Arabic", "Geeza Pro", "Segoe UI", Tahoma, serif;
  font-size: 1.12em; line-height: 1.85; }
.rp-text:lang(zh) { font-family: "Noto Sans CJK SC", "Noto Sans SC", "PingFang SC", "Microsoft YaHei", sans-serif; }
.rp-invisible { font: 0.75em monospace; color: #a03030; border: 1px dotted #a03030; padding: 0 2px;
  unicode-bidi: isolate; }
.rp-note { border-left: 3px solid #8a94a0; background: rgba(138, 148, 160, 0.10); padding: 0.55rem 0.8rem;
  font-size: 0.92rem; overflow-wrap: anywhere; white-space: pre-wrap; }
.rp-note.warning { border-color: #c98a1b; background: rgba(201, 138, 27, 0.10); }
.rp-note.problem { border-color: #b23a3a; background: rgba(178, 58, 58, 0.09); }
.rp-note code { font-size: 0.9em; }
h3.rp-heading { font-size: 1.05rem; font-weight: 600; padding: 0.3rem 0 0; margin: 0; }
h4.rp-heading { font-size: 0.95rem; font-weight: 600; padding: 0; margin: 0; }
.rp-muted { color: rgba(110, 118, 128, 1); font-size: 0.82rem; }
.rp-table { border-collapse: collapse; font-size: 0.86rem; width: 100%; font-variant-numeric: tabular-nums; }
.rp-table th { text-align: left; font-weight: 600; border-bottom: 1px solid rgba(128, 128, 128, 0.55);
  padding: 3px 10px 3px 0; vertical-align: bottom; }
.rp-table td { border-bottom: 1px solid rgba(128, 128, 128, 0.18); padding: 3px 10px 3px 0; vertical-align: top;
  overflow-wrap: break-word; max-width: 32rem; }
.rp-table td:first-child, .rp-table td.number { white-space: nowrap; }
.rp-table .number { text-align: right; }
.rp-table td.number, .rp-table th.number { padding-left: 10px; padding-right: 14px; }
.rp-turn { border-top: 1px solid rgba(128, 128, 128, 0.4); padding-top: 0.55rem; margin-top: 0.4rem; }
.rp-turn-head { display: flex; flex-wrap: wrap; gap: 0.35rem 0.9rem; align-items: baseline; margin-bottom: 0.35rem; }
.rp-turn-head b { font-size: 1.0rem; }
.rp-side { border-radius: 3px; padding: 0 6px; font-size: 0.75rem; font-weight: 600; color: #fff; background: #6b7480; }
.rp-side.pro { background: #2f6f8f; }
.rp-side.con { background: #97553b; }
.rp-pair { display: grid; grid-template-columns: 1fr 84px 1fr; gap: 0.3rem 0.7rem; align-items: start;
  padding: 0.45rem 0; border-top: 1px dotted rgba(128, 128, 128, 0.45); }
.rp-pair.here { background: rgba(201, 138, 27, 0.14); }
.rp-argument { font-size: 0.93rem; }
.rp-argument.rtl > .rp-muted { text-align: right; }
.rp-argument .rp-detail { font-size: 0.86em; color: rgba(100, 108, 118, 1); }
.rp-similarity { text-align: center; font-variant-numeric: tabular-nums; font-weight: 600; }
.rp-bar { height: 4px; background: rgba(128, 128, 128, 0.25); margin-top: 3px; }
.rp-bar > span { display: block; height: 4px; background: #c0392b; }
details.rp-schema { margin: 0.1rem 0; font-size: 0.88rem; }
details.rp-schema summary { cursor: pointer; }
</style>
"""


def escape(value: object) -> str:
    """`value` as HTML text in which nothing is markup, with invisible control characters made visible."""
    return _INVISIBLE.sub(
        lambda match: f'<span class="rp-invisible">U+{ord(match[0]):04X}</span>', html.escape(str(value), quote=True)
    )


def passage(value: str | None, language: str, direction: Direction, *, css: str = "") -> str:
    """A block of text in its language and writing direction; an em dash where there is none."""
    if not value:
        return f'<div class="{css}">{EM_DASH}</div>'
    attributes = f'lang="{escape(language)}" dir="{direction}"'
    return f'<div class="rp-text {css}" {attributes}>{escape(value)}</div>'


def label(value: object, direction: Direction = "ltr", *, limit: int = 0) -> str:
    """`value` for a place that shows plain text: one line, isolated, its control characters spelled out.

    `limit` cuts longer text and marks the cut; 0 keeps all of it. None is an em dash.
    """
    if value is None:
        return EM_DASH
    line = _INVISIBLE.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", " ".join(str(value).split()))
    if limit and len(line) > limit:
        line = line[: limit - 1].rstrip() + "…"
    # Left-to-right text needs the marks only when it holds characters of the other direction.
    if direction == "ltr" and not any(unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in line):
        return line
    return f"{_ISOLATE[direction]}{line}{_END_ISOLATE}"


def note(message: str, kind: Literal["info", "warning", "problem"] = "info") -> None:
    """A message box. Unlike `st.info` and `st.error`, which read Markdown, it shows its text as it is.

    Words between backquotes are set as code.
    """
    parts = re.split(r"`([^`]+)`", message)
    body = "".join(f"<code>{escape(part)}</code>" if index % 2 else escape(part) for index, part in enumerate(parts))
    st.html(f'<div class="rp-note {kind}" role="note">{body}</div>')


def heading(title: str, level: int = 3) -> None:
    """A heading that may hold names from the warehouse, which `st.subheader` would read as Markdown."""
    st.html(f'<h{level} class="rp-heading">{escape(title)}</h{level}>')


def muted(*lines: str) -> None:
    """Small grey plain text, one block a line."""
    st.html("".join(f'<div class="rp-muted">{escape(line)}</div>' for line in lines))


def table(records: Sequence[Mapping[str, Any]], columns: Mapping[str, str], numbers: Iterable[str] = ()) -> str:
    """An HTML table of `columns` (key → heading); keys in `numbers` are set right-aligned, None as an em dash."""
    numeric = set(numbers)
    css = {key: ' class="number"' if key in numeric else ' dir="auto"' for key in columns}
    head = "".join(f"<th{css[key]}>{escape(heading)}</th>" for key, heading in columns.items())
    body = "".join(
        "<tr>" + "".join(f"<td{css[key]}>{escape(shown(record[key]))}</td>" for key in columns) + "</tr>"
        for record in records
    )
    return f'<table class="rp-table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def shown(value: object) -> str:
    """A cell's text: counts with thousands separators, an em dash for what is missing."""
    if value is None:
        return EM_DASH
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)


def signed(value: float | None, digits: int = 4) -> str:
    """A difference with its sign, the minus as a minus; an em dash when there is none."""
    return EM_DASH if value is None else f"{value:+.{digits}f}".replace("-", MINUS)


def fixed(value: float | None, digits: int = 3) -> str:
    """A similarity or a rate with `digits` decimals; an em dash when there is none."""
    return EM_DASH if value is None else f"{value:.{digits}f}".replace("-", MINUS)


def interval(low: float | None, high: float | None, reason: str | None = None, digits: int = 4) -> str:
    """An interval in brackets; when there is none, an em dash and the reason."""
    if low is None or high is None:
        return f"{EM_DASH} {reason}" if reason else EM_DASH
    return f"[{signed(low, digits)}, {signed(high, digits)}]"


def age(elapsed: timedelta) -> str:
    """How long ago, in the one unit that fits: "4 minutes", "3 hours", "12 days"."""
    seconds = max(elapsed.total_seconds(), 0)
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        count = int(seconds // length)
        if count:
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return "less than a minute"


def plain(value: Any) -> str | int | float | bool | None:
    """A cell as a JSON-like scalar: numbers stay numbers, what is neither number, text nor truth becomes its text.

    A float that is not a number is returned as None, because a page shows missing values in one way only.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else str(value)
    if isinstance(value, Decimal | float):
        number = float(value)
        return number if number == number and abs(number) != float("inf") else None
    if isinstance(value, datetime | date):
        return value.isoformat()
    return str(value)


def cells(values: Sequence[Any], direction: Direction = "ltr") -> list[str | int | float | None]:
    """One column of a data grid: its values if they are of one kind, else each as plain text."""
    scalars = [plain(value) for value in values]
    if all(value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in scalars):
        return scalars
    # A grid shows a missing truth value as an empty box, so truth values are words.
    words = {True: "true", False: "false"}
    return [
        words[value] if isinstance(value, bool) else None if value is None else label(value, direction)
        for value in scalars
    ]
