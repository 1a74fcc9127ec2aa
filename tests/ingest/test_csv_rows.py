from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.archive.csv_rows import read_csv
from ingest.archive.lines import LineReader, UnreadableFile, Unusable

CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n\ufeff"), max_size=8)


def delivered(path: Path, content: bytes, required: tuple[str, ...] = ("a",)):
    path.write_bytes(content)
    return list(read_csv(LineReader(path), required))


def contents(path: Path, content: bytes) -> list[dict | str]:
    return [
        item.content.reason if isinstance(item.content, Unusable) else item.content for item in delivered(path, content)
    ]


@settings(deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS), max_size=10))
def test_what_a_csv_writer_writes_is_read_back(tmp_path_factory, rows) -> None:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([("a", "b"), *rows])
    read = contents(tmp_path_factory.mktemp("csv") / "f.csv", text.getvalue().encode())
    assert read == [{"a": a or None, "b": b or None} for a, b in rows]


def test_a_quoted_cell_may_hold_line_feeds_and_the_next_row_keeps_its_line_number(tmp_path: Path) -> None:
    rows = delivered(tmp_path / "f.csv", b'a,b\n1,"two\nlines"\n3,4\n')
    assert [(row.line, row.content) for row in rows] == [(2, {"a": "1", "b": "two\nlines"}), (4, {"a": "3", "b": "4"})]
    assert rows[0].raw_line == '1,"two\nlines"'


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"1", "wrong_field_count"),
        (b"1,2,3", "wrong_field_count"),
        (b'1,"2"x', "not_csv"),
        (b"1,caf\xe9", "not_utf8"),
        (b"1,\0", "nul_character"),
    ],
)
def test_a_row_that_cannot_be_read_does_not_stop_the_next(tmp_path: Path, row: bytes, reason: str) -> None:
    read = contents(tmp_path / "f.csv", b"a,b\n1,2\n" + row + b"\n\n5,6\n")
    assert read == [{"a": "1", "b": "2"}, reason, {"a": "5", "b": "6"}]


def test_a_quote_that_is_never_closed_is_a_reject_at_the_row_where_it_opens(tmp_path: Path) -> None:
    *_, last = delivered(tmp_path / "f.csv", b'a,b\n1,2\n3,"4\n5,6\n')
    assert (last.line, last.content.reason) == (3, "not_csv")
    assert last.raw_line == '3,"4\n5,6'


def test_a_byte_order_mark_and_crlf_are_tolerated(tmp_path: Path) -> None:
    assert contents(tmp_path / "f.csv", b"\xef\xbb\xbfa,b\r\n1,2\r\n") == [{"a": "1", "b": "2"}]


@pytest.mark.parametrize(
    ("header", "reason"), [(b"b,c", "missing_column"), (b"a;b", "missing_column"), (b"a,a", "duplicate_column")]
)
def test_a_header_that_cannot_be_relied_on_makes_the_file_unreadable(tmp_path: Path, header, reason) -> None:
    with pytest.raises(UnreadableFile) as caught:
        delivered(tmp_path / "f.csv", header + b"\n1,2\n")
    assert caught.value.reason == reason


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    assert delivered(tmp_path / "f.csv", b"") == []
