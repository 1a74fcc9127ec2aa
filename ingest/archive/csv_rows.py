"""The reader of CSV files (annotations): rows by column name, each delivered or explained."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator
from typing import Any

from ingest.archive.lines import (
    RAW_LINE_BYTES,
    Delivered,
    LineReader,
    UnreadableFile,
    Unusable,
    cut_note,
    decoded,
    raw_text,
)


def read_csv(reader: LineReader, required_columns: Collection[str]) -> Iterator[Delivered]:
    """Every row below the header, in order, as strings by column name; an empty cell is None. Blank rows are skipped.

    Comma-separated, double quotes, UTF-8; CRLF and a byte order mark are tolerated. Raises UnreadableFile when the
    header repeats a column or lacks a required one, or when a gzip stream is damaged.
    """
    feed = _Feed(reader)
    rows = csv.reader(feed, strict=True)
    header: list[str] | None = None
    while True:
        feed.start_row()
        content: dict[str, Any] | Unusable
        try:
            cells = next(rows, None)
        except csv.Error as error:
            content = Unusable(
                "not_csv", f"The row that starts here is not CSV ({error}). Check that every quote is closed."
            )
            yield from feed.unusable_lines
        else:
            yield from feed.unusable_lines
            if cells is None:
                return
            if not cells:
                continue
            if header is None:
                header = _checked_header(cells, required_columns)
                continue
            content = _by_name(header, cells)
        if isinstance(content, Unusable):
            content = Unusable(content.reason, content.detail + cut_note(feed.size))
        yield Delivered(feed.line, raw_text(feed.raw_row), feed.size, content)


class _Feed(Iterator[str]):
    """Hands text lines to the csv module and remembers those of the row being read; a row can span lines."""

    def __init__(self, reader: LineReader) -> None:
        self._lines = iter(reader)
        self.start_row()

    def start_row(self) -> None:
        self.line = 0
        self.size = 0
        self.raw_row = b""
        self.unusable_lines: list[Delivered] = []

    def __next__(self) -> str:
        for line in self._lines:
            try:
                text = decoded(line)
            except Unusable as unusable:
                content = Unusable(unusable.reason, unusable.detail + cut_note(line.size))
                self.unusable_lines.append(Delivered(line.number, raw_text(line.data), line.size, content))
                continue
            self.line = self.line or line.number
            separator = b"\n" if self.raw_row else b""
            self.raw_row = (self.raw_row + separator + line.data)[: RAW_LINE_BYTES + 1]
            self.size += line.size + len(separator)
            return text + "\n"
        raise StopIteration


def _checked_header(cells: list[str], required_columns: Collection[str]) -> list[str]:
    repeated = sorted({name for name in cells if cells.count(name) > 1})
    if repeated:
        raise UnreadableFile(
            "duplicate_column", f"The header has the column {repeated[0]!r} twice. Rename or remove one of them."
        )
    missing = [name for name in required_columns if name not in cells]
    if missing:
        raise UnreadableFile(
            "missing_column",
            f"The header has no column {missing[0]!r}; it has {', '.join(map(repr, cells))[:500]}. "
            "Add the column; cells are separated by commas.",
        )
    return cells


def _by_name(header: list[str], cells: list[str]) -> dict[str, Any] | Unusable:
    if len(cells) != len(header):
        return Unusable(
            "wrong_field_count",
            f"The row has {len(cells)} cells and the header {len(header)}. Quote cells that hold commas.",
        )
    for name, cell in zip(header, cells, strict=True):
        if "\0" in cell:
            return Unusable(
                "nul_character", f"{name} has a NUL character, which SQL clients cut strings at. Remove it."
            )
    return {name: cell or None for name, cell in zip(header, cells, strict=True)}
