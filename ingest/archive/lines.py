"""Delivered lines: what the JSON Lines and the CSV reader have in common."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from ingest.errors import ArchiveError

MAX_LINE_BYTES = 16 * 1024 * 1024
RAW_LINE_BYTES = 64 * 1024

_CHUNK_BYTES = 1024 * 1024
_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"


class Unusable(Exception):
    """A record that cannot be used: a reason code and a sentence that names the field and the remedy."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class UnreadableFile(Unusable):
    """A file that cannot be read to its end; none of its records is used."""


@dataclass(frozen=True)
class Line:
    """One line without its line end (LF or CRLF).

    `size` is its length as stored; `data` is cut to `RAW_LINE_BYTES` when `too_long`.
    """

    number: int
    data: bytes
    size: int

    @property
    def too_long(self) -> bool:
        return self.size > MAX_LINE_BYTES


@dataclass(frozen=True)
class Delivered:
    """One record as it arrived: its first line, its raw text (capped), and its content or why it has none."""

    line: int
    raw_line: str
    size: int
    content: dict[str, Any] | Unusable


class LineReader:
    """Iterates over the lines of a file, plain or gzipped (by its name), in bounded memory.

    Lines end at a line feed and nothing else, so that U+2028 and its like stay inside a record. A byte order mark at
    the start of a line (of a file, or of a file appended to another) is dropped. A line of more than `MAX_LINE_BYTES`
    is never held whole. Raises UnreadableFile when the gzip stream is damaged or the name says another thing than the
    content, ArchiveError when the file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.position = 0
        """Bytes of the file read so far, as stored on disk."""
        self._number = 1

    def __iter__(self) -> Iterator[Line]:
        try:
            with self._path.open("rb") as stored:
                yield from self._lines(stored)
        except OSError as error:
            raise ArchiveError.from_os_error(self._path, error) from error

    def _lines(self, stored: BinaryIO) -> Iterator[Line]:
        held, size = bytearray(), 0
        for chunk in self._chunks(stored):
            *complete, rest = chunk.split(b"\n")
            for piece in complete:
                if size == 0:
                    yield _line(self._number, piece, len(piece))
                else:
                    _hold(held, piece, size)
                    yield _line(self._number, held, size + len(piece))
                    held, size = bytearray(), 0
                self._number += 1
            _hold(held, rest, size)
            size += len(rest)
        if size:
            yield _line(self._number, held, size)

    def _chunks(self, stored: BinaryIO) -> Iterator[bytes]:
        named_gzip, is_gzip = self._path.suffix == ".gz", stored.read(len(_GZIP)) == _GZIP
        stored.seek(0)
        if is_gzip and not named_gzip:
            raise UnreadableFile(
                "gzip_by_another_name",
                f"{self._path.name} is compressed by gzip. None of its records is used: name it {self._path.name}.gz.",
            )
        stream = gzip.GzipFile(fileobj=stored) if named_gzip else stored
        try:
            while chunk := stream.read(_CHUNK_BYTES):
                self.position = stored.tell()
                yield chunk
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            if not is_gzip:
                raise UnreadableFile(
                    "damaged_gzip",
                    f"{self._path.name} is not compressed by gzip. None of its records is used: name it "
                    f"{self._path.stem}, or copy the file again from its source.",
                ) from error
            reason = "truncated_gzip" if isinstance(error, EOFError) else "damaged_gzip"
            raise UnreadableFile(
                reason,
                f"The gzip stream of {self._path.name} breaks off at or after line {self._number} ({error}). None of "
                "its records is used: copy the file again from its source, or compress it anew.",
            ) from error


def raw_text(data: bytes) -> str:
    """At most `RAW_LINE_BYTES` of a line as text; bytes that are not UTF-8 and NULs appear as `\\xNN`."""
    return data[:RAW_LINE_BYTES].decode("utf-8", errors="backslashreplace").replace("\0", "\\x00")


def cut_note(size: int) -> str:
    """A sentence to append to a detail when a raw line of `size` bytes is stored cut, else nothing."""
    return f" raw_line holds its first {RAW_LINE_BYTES:,} of {size:,} bytes." if size > RAW_LINE_BYTES else ""


def decoded(line: Line) -> str:
    """The line as text. Raises Unusable when it is too long or not UTF-8."""
    if line.too_long:
        raise Unusable(
            "line_too_long",
            f"The line has {line.size:,} bytes; a record may have {MAX_LINE_BYTES:,}. Check that the file has one "
            "record a line.",
        )
    try:
        return line.data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unusable(
            "not_utf8",
            f"Byte 0x{line.data[error.start]:02x} at position {error.start + 1} is not UTF-8. Convert the file from "
            "the encoding it was saved in to UTF-8.",
        ) from error


def _hold(held: bytearray, piece: bytes, size: int) -> None:
    """Appends to the line being put together, or cuts it to what is shown of it once it is too long."""
    if size + len(piece) > MAX_LINE_BYTES:
        held += piece[: max(0, RAW_LINE_BYTES - len(held))]
        del held[RAW_LINE_BYTES:]
    else:
        held += piece


def _line(number: int, data: bytes | bytearray, size: int) -> Line:
    data = bytes(data).removesuffix(b"\r") if size <= MAX_LINE_BYTES else bytes(data)
    return Line(number, data.removeprefix(_BOM), size)
