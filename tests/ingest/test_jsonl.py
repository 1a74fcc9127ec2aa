from __future__ import annotations

import gzip
import json
import random
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.archive import lines
from ingest.archive.jsonl import read_jsonl
from ingest.archive.lines import LineReader, UnreadableFile, Unusable


def write(path: Path, content: bytes) -> LineReader:
    path.write_bytes(content)
    return LineReader(path)


def contents(reader: LineReader) -> list[dict | str]:
    """Objects, or the reason code where a line has none."""
    return [
        delivered.content.reason if isinstance(delivered.content, Unusable) else delivered.content
        for delivered in read_jsonl(reader)
    ]


PIECES = st.lists(st.sampled_from([b"\r", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\xff", b"a", b" "])).map(b"".join)


@settings(deadline=None)
@given(st.lists(PIECES, max_size=20))
def test_lines_are_those_of_a_plain_split_whatever_the_chunk_size(tmp_path_factory, pieces) -> None:
    path = tmp_path_factory.mktemp("lines") / "f.jsonl"
    for chunk_bytes in (1, 3, 1024):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lines, "_CHUNK_BYTES", chunk_bytes)
            read = list(write(path, b"".join(piece + b"\n" for piece in pieces)))
        assert [line.number for line in read] == list(range(1, len(pieces) + 1))
        bom = b"\xef\xbb\xbf"
        assert [line.data for line in read] == [piece.removesuffix(b"\r").removeprefix(bom) for piece in pieces]


def test_unicode_line_separators_stay_inside_a_record(tmp_path: Path) -> None:
    record = {"text": "one\u2028two\u2029three\u0085four\x0bfive"}
    raw = json.dumps(record, ensure_ascii=False).replace("\\u000b", "\\u000b").encode()
    assert contents(write(tmp_path / "f.jsonl", raw + b"\n")) == [record]


def test_a_byte_order_mark_crlf_blank_lines_and_a_missing_last_line_feed_are_tolerated(tmp_path: Path) -> None:
    raw = b'\xef\xbb\xbf{"a": 1}\r\n\r\n  \n{"a": 2}\r\n\xef\xbb\xbf{"a": 3}'
    delivered = list(read_jsonl(write(tmp_path / "f.jsonl", raw)))
    assert [(item.line, item.content) for item in delivered] == [(1, {"a": 1}), (4, {"a": 2}), (5, {"a": 3})]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"text": "café"}'.encode("latin-1"), "not_utf8"),
        (b'{"text": "cut in the mid', "truncated"),
        (b"[1]", "not_an_object"),
        (b'{"a": 1} {"a": 2}', "not_json"),
        (b'{"a": 1, "a": 2}', "duplicate_keys"),
        (b'{"a": NaN}', "not_json"),
        (b'{"a": "\\ud800"}', "lone_surrogate"),
        (b'{"a": "\\u0000"}', "nul_character"),
        (b'{"a": "\x00"}', "not_json"),
        (b'{"a":' * 10_000, "too_deep"),
    ],
)
def test_a_line_that_cannot_be_read_does_not_stop_the_next(tmp_path: Path, line: bytes, reason: str) -> None:
    assert contents(write(tmp_path / "f.jsonl", b'{"n": 1}\n' + line + b'\n{"n": 2}\n')) == [
        {"n": 1},
        reason,
        {"n": 2},
    ]


def test_bytes_that_are_not_utf8_are_shown_in_the_raw_line(tmp_path: Path) -> None:
    (delivered,) = read_jsonl(write(tmp_path / "f.jsonl", b'{"text": "caf\xe9 \x00"}\n'))
    assert delivered.raw_line == '{"text": "caf\\xe9 \\x00"}'
    assert "0xe9 at position 14" in delivered.content.detail


def test_a_raw_line_is_cut_at_64_kib_and_says_so(tmp_path: Path) -> None:
    (delivered,) = read_jsonl(write(tmp_path / "f.jsonl", b"x" * 70_000 + b"\n"))
    assert delivered.raw_line == "x" * 65_536
    assert delivered.content.detail.endswith("raw_line holds its first 65,536 of 70,000 bytes.")


def test_a_line_of_50_mb_is_rejected_without_being_held(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    with path.open("wb") as stored:
        stored.write(b'{"n": 1}\n{"text": "')
        for _ in range(50):
            stored.write(b"x" * 1_000_000)
        stored.write(b'"}\n{"n": 2}\n')
    tracemalloc.start()
    try:
        delivered = list(read_jsonl(LineReader(path)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    first, long, last = delivered
    assert (first.content, last.content) == ({"n": 1}, {"n": 2})
    assert long.content.reason == "line_too_long"
    assert "50,000,012 bytes" in long.content.detail
    assert len(long.raw_line) == 65_536
    assert peak < 40 * 1024 * 1024


def test_a_line_of_exactly_the_limit_is_read_and_one_byte_more_is_not(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 20)
    monkeypatch.setattr(lines, "RAW_LINE_BYTES", 4)
    monkeypatch.setattr(lines, "_CHUNK_BYTES", 7)
    fits = b'{"text": "12345678"}'
    assert len(fits) == 20
    reader = write(tmp_path / "f.jsonl", fits + b"\n" + fits[:-2] + b'9"}\n' + fits + b"\n")
    assert contents(reader) == [{"text": "12345678"}, "line_too_long", {"text": "12345678"}]


def test_gzip_is_read_like_plain_text_in_several_members_too(tmp_path: Path) -> None:
    raw = gzip.compress(b'{"n": 1}\n{"n"') + gzip.compress(b": 2}\n")
    assert contents(write(tmp_path / "f.jsonl.gz", raw)) == [{"n": 1}, {"n": 2}]


@pytest.mark.parametrize(
    ("name", "raw", "remedy"),
    [
        # The time of packing would give each worker's test another name.
        ("turns.jsonl", gzip.compress(b'{"n": 1}\n', mtime=0), "name it turns.jsonl.gz"),
        ("turns.jsonl.gz", b'{"n": 1}\n', "name it turns.jsonl,"),
    ],
)
def test_a_name_that_says_another_compression_is_told_as_that(
    tmp_path: Path, name: str, raw: bytes, remedy: str
) -> None:
    with pytest.raises(UnreadableFile, match=remedy):
        list(read_jsonl(write(tmp_path / name, raw)))


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda raw: raw[:-4], "truncated_gzip"),
        (lambda raw: raw[: len(raw) // 2], "truncated_gzip"),
        (lambda raw: raw[:100] + bytes(50) + raw[150:], "damaged_gzip"),
        (lambda raw: b"not gzip at all", "damaged_gzip"),
    ],
)
def test_a_damaged_gzip_stream_is_an_unreadable_file(tmp_path: Path, damage, reason: str) -> None:
    noise = random.Random(1).randbytes(2000).hex()
    raw = gzip.compress("".join(f'{{"n": {n}, "noise": "{noise}"}}\n' for n in range(50)).encode())
    with pytest.raises(UnreadableFile) as caught:
        list(read_jsonl(write(tmp_path / "f.jsonl.gz", damage(raw))))
    assert caught.value.reason == reason
    assert "f.jsonl.gz" in caught.value.detail


def test_the_position_reaches_the_end_of_the_stored_file(tmp_path: Path) -> None:
    reader = write(tmp_path / "f.jsonl.gz", gzip.compress(b'{"n": 1}\n' * 1000))
    list(reader)
    assert reader.position == (tmp_path / "f.jsonl.gz").stat().st_size
