"""The files of a source and the debates' raw contents in them, one at a time."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import re
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from ingest.importers.findings import Findings
from ingest.importers.mapping import Mapping, MappingError, found

_LFS_POINTER = b"version https://git-lfs.github.com/spec/v1"
_BATCH_ROWS = 1024
_MAX_CELL = 16 * 1024 * 1024
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*\n", re.DOTALL)


@dataclass(frozen=True)
class SourceFile:
    """A file below the source, or in a zip below it. `name` is its relative path with forward slashes."""

    name: str
    size: int
    open: Callable[[], BinaryIO]


@dataclass(frozen=True)
class Content:
    """One debate as it lies in the source. `place` says where in the file; `of_file` is what the file's name gives."""

    file: str
    place: str
    value: Any
    of_file: dict[str, str]


class Unreadable(Exception):
    """A file or record that cannot be read, with the reason and the remedy."""


def source_files(source: Path, mapping: Mapping, findings: Findings) -> list[SourceFile]:
    """The files that the mapping reads, by name. What lies in a zip counts as lying in a folder of the zip's name.

    Raises MappingError when there is no source, or no file that matches.
    """
    if not source.exists():
        raise MappingError(f"The source {source} does not exist. Give the folder or the file of the transcripts.")
    if source.is_file():
        present = list(_present(source, source.name, findings))
        # A single file is meant whatever it is called.
        matching = present if source.suffix != ".zip" else [file for file in present if _matches(file.name, mapping)]
    else:
        present = [
            file
            for path in sorted(source.rglob("*"))
            if path.is_file() and not any(part.startswith(".") for part in path.relative_to(source).parts)
            for file in _present(path, _named(path.relative_to(source)), findings)
        ]
        matching = [file for file in present if _matches(file.name, mapping)]
    read = {file.name for file in matching}
    for file in present:
        if file.name not in read:
            findings.add("file_not_matched", file.name, "", f"It does not match files: {mapping.pattern}.")
    if not matching:
        example = f", for example {present[0].name}" if present else ""
        unread = f"; {findings.counts['file_unreadable']} cannot be read" if findings.counts["file_unreadable"] else ""
        detail = next((f": {finding.detail}" for finding in findings.examples["file_unreadable"]), "")
        raise MappingError(
            f"No file of {source} matches {mapping.pattern!r} (it has {len(present)}{example}{unread}{detail}). "
            "Change `files` in the mapping, or give another source."
        )
    return matching


def contents(
    files: list[SourceFile], mapping: Mapping, findings: Findings, progress: Callable[[int, int], None] | None = None
) -> Iterator[Content]:
    """Every debate's raw content, in the order of the files. `progress` gets files done and files in all.

    A file that cannot be read contributes nothing but a finding; of lines and rows, what precedes the damage is used.
    """
    if mapping.debates.across_files:
        records = (record for file in _counted(files, progress) for record in _readable(file, mapping, findings))
        yield from _grouped(records, mapping, {})
        return
    for file in _counted(files, progress):
        of_file = _of_file(file.name, mapping, findings)
        if of_file is None:
            continue
        if mapping.format == "json":
            for value in _readable(file, mapping, findings):
                yield from _in_document(value[2], file.name, mapping, of_file, findings)
        elif mapping.format == "markdown":
            for name, place, value in _readable(file, mapping, findings):
                yield Content(name, place, value, of_file)
        elif mapping.debates.group_by:
            yield from _grouped(_readable(file, mapping, findings), mapping, of_file)
        elif mapping.debates.starts_at:
            yield from _between_starts(_readable(file, mapping, findings), mapping, of_file)
        else:
            values = [value for _, _, value in _readable(file, mapping, findings)]
            yield Content(file.name, "", values, of_file)


_Placed = tuple[str, str, Any]


def _counted(files: list[SourceFile], progress: Callable[[int, int], None] | None) -> Iterator[SourceFile]:
    for done, file in enumerate(files, start=1):
        yield file
        if progress is not None:
            progress(done, len(files))


def _present(path: Path, name: str, findings: Findings) -> Iterator[SourceFile]:
    if not name.endswith(".zip"):
        yield SourceFile(name, path.stat().st_size, lambda: path.open("rb"))
        return
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
    except (OSError, zipfile.BadZipFile) as error:
        with path.open("rb") as stored:
            detail = _pointer(stored.read(len(_LFS_POINTER))) or f"It is no zip file ({error}). Copy it again."
        findings.add("file_unreadable", name, "", detail)
        return
    for member in sorted(members, key=lambda member: member.filename):
        yield SourceFile(f"{name}/{member.filename}", member.file_size, _member(path, member))


def _member(path: Path, member: zipfile.ZipInfo) -> Callable[[], BinaryIO]:
    def opened() -> BinaryIO:
        with zipfile.ZipFile(path) as archive:
            return io.BytesIO(archive.read(member))

    return opened


def _named(relative: Path) -> str:
    # A name that is not UTF-8 on disk shows its bytes, so that it can be written anywhere.
    return relative.as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _matches(name: str, mapping: Mapping) -> bool:
    plain = name.removesuffix(".gz")
    pattern = mapping.pattern
    return any(re.match(translate(one), plain) for one in (pattern, pattern.removeprefix("**/")))


def _of_file(name: str, mapping: Mapping, findings: Findings) -> dict[str, str] | None:
    """What a file's name says: path, folder, stem and the named groups of `file_name`."""
    plain = PurePosixPath(name.removesuffix(".gz"))
    groups: dict[str, str] = {}
    if mapping.file_name is not None:
        match = re.search(mapping.file_name, str(plain))
        if match is None:
            findings.add("file_not_matched", name, "", f"It does not match file_name: {mapping.file_name}.")
            return None
        groups = {group: value for group, value in match.groupdict().items() if value is not None}
    stem = plain.stem if plain.suffix else plain.name
    path = str(plain.with_name(stem))
    return {"path": path, "folder": str(plain.parent), "stem": stem, "name": plain.name, **groups}


def _readable(file: SourceFile, mapping: Mapping, findings: Findings) -> Iterator[_Placed]:
    """The records of a file as (file, place, value)."""
    read = {"json": _json, "jsonl": _jsonl, "csv": _csv, "parquet": _parquet, "markdown": _markdown}[mapping.format]
    try:
        with _opened(file) as stored:
            for place, value in read(stored, file, mapping, findings):
                yield file.name, place, value
    except (Unreadable, OSError, EOFError, zlib.error, zipfile.BadZipFile, pa.ArrowException) as error:
        findings.add("file_unreadable", file.name, "", str(error))


def _opened(file: SourceFile) -> BinaryIO:
    stored = file.open()
    start = stored.read(len(_LFS_POINTER))
    stored.seek(0)
    if detail := _pointer(start):
        stored.close()
        raise Unreadable(detail)
    return gzip.GzipFile(fileobj=stored) if file.name.endswith(".gz") else stored


def _pointer(start: bytes) -> str | None:
    if start == _LFS_POINTER:
        return "It is a Git LFS pointer, not the file itself. Fetch the file with `git lfs pull`."
    return None


def _text(stored: BinaryIO, mapping: Mapping) -> str:
    try:
        text = stored.read().decode(mapping.encoding)
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"Byte 0x{error.object[error.start]:02x} at {error.start + 1} is not {mapping.encoding}. Set `encoding` in "
            "the mapping to the one the file was saved in."
        ) from error
    except LookupError as error:
        raise MappingError(f"There is no encoding {mapping.encoding!r}. Name one that Python knows.") from error
    return text.removeprefix("\ufeff")


def _loads(text: str, file: SourceFile, place: str, findings: Findings) -> Any:
    """JSON as other programs write it: NaN and Infinity become null, and are counted."""
    constants: list[str] = []
    try:
        value = json.loads(text, parse_constant=constants.append)
    except (json.JSONDecodeError, RecursionError) as error:
        raise Unreadable(f"It is not JSON ({error}).") from error
    for constant in constants:
        findings.add("number_as_null", file.name, place, f"{constant} was read as null.")
    return value


def _json(stored: BinaryIO, file: SourceFile, mapping: Mapping, findings: Findings) -> Iterator[tuple[str, Any]]:
    yield "", _loads(_text(stored, mapping), file, "", findings)


def _jsonl(stored: BinaryIO, file: SourceFile, mapping: Mapping, findings: Findings) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(stored, start=1):
        place = f"line {number}"
        try:
            text = _text(io.BytesIO(line), mapping).strip()
            if text:
                yield place, _loads(text, file, place, findings)
        except Unreadable as error:
            findings.add("record_unreadable", file.name, place, str(error))


def _csv(stored: BinaryIO, file: SourceFile, mapping: Mapping, findings: Findings) -> Iterator[tuple[str, Any]]:
    csv.field_size_limit(_MAX_CELL)
    text = _text(stored, mapping).replace("\0", "\ufffd")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=mapping.delimiter, strict=True)
    try:
        header = next(rows, None)
        if not header:
            raise Unreadable("It has no header row.")
        if len(set(header)) < len(header):
            raise Unreadable("Its header names a column twice. Rename one.")
        for cells in rows:
            if not cells:
                continue
            if len(cells) != len(header):
                detail = f"The row has {len(cells)} cells and the header {len(header)}. Quote cells with"
                findings.add(
                    "record_unreadable", file.name, f"line {rows.line_num}", f"{detail} {mapping.delimiter!r} in them."
                )
                continue
            yield f"line {rows.line_num}", dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise Unreadable(f"It is not CSV at line {rows.line_num} ({error}).") from error


def _parquet(stored: BinaryIO, file: SourceFile, mapping: Mapping, findings: Findings) -> Iterator[tuple[str, Any]]:
    number = 0
    with pq.ParquetFile(stored) as table:
        for batch in table.iter_batches(_BATCH_ROWS):
            for row in batch.to_pylist():
                number += 1
                yield f"row {number}", _plain(row)


def _plain(value: Any) -> Any:
    """A Parquet value as JSON would hold it: dates as text, no NaN."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _markdown(stored: BinaryIO, file: SourceFile, mapping: Mapping, findings: Findings) -> Iterator[tuple[str, Any]]:
    """A document as {front: {…}, sections: [{heading, …, text}]}: what stands below each line that `heading` matches,
    with the pattern's named groups. Text before the first heading is a section without one."""
    text = _text(stored, mapping).replace("\r\n", "\n")
    front: Any = {}
    if match := _FRONT_MATTER.match(text):
        try:
            front = yaml.safe_load(match[1]) or {}
        except yaml.YAMLError as error:
            raise Unreadable(f"Its front matter is not YAML ({error}).") from error
        text = text[match.end() :]
    headings = list(re.finditer(mapping.heading, text, re.MULTILINE))
    starts = [0, *(match.end() for match in headings)]
    ends = [*(match.start() for match in headings), len(text)]
    sections = [
        {**(match.groupdict() if match else {}), "text": text[start:end].strip()}
        for match, start, end in zip([None, *headings], starts, ends, strict=True)
    ]
    yield "", {"front": _plain(front), "sections": [s for s in sections if s["text"] or len(s) > 1]}


def _in_document(
    value: Any, name: str, mapping: Mapping, of_file: dict[str, str], findings: Findings
) -> Iterator[Content]:
    if mapping.debates.each is None:
        yield Content(name, "", value, of_file)
        return
    debates = found(mapping.debates.each, value)
    if not isinstance(debates, list):
        findings.add("file_unreadable", name, "", f"{mapping.debates.each} is no list in it.")
        return
    for number, debate in enumerate(debates, start=1):
        yield Content(name, f"debate {number}", debate, {**of_file, "path": f"{of_file['path']}/{number}"})


def _between_starts(records: Iterator[_Placed], mapping: Mapping, of_file: dict[str, str]) -> Iterator[Content]:
    """One debate from each record that `starts_at` is true for to the next; what precedes the first is with it."""
    held: list[Any] = []
    number, name, first = 0, "", ""
    for file, place, value in records:
        if found(str(mapping.debates.starts_at), value):
            if number:
                yield Content(name, f"from {first}", held, {**of_file, "path": f"{of_file['path']}/{number}"})
                held = []
            number += 1
            first = place
        name = file
        held.append(value)
    if held:
        yield Content(name, f"from {first}", held, {**of_file, "path": f"{of_file['path']}/{max(number, 1)}"})


def _grouped(records: Iterator[_Placed], mapping: Mapping, of_file: dict[str, str]) -> Iterator[Content]:
    """The records of each value of `group_by`, in the order in which the values first appear.

    They are collected on disk: a table of any size can have its rows in any order.
    """
    with tempfile.TemporaryDirectory(prefix="reprise-import-") as folder:
        store = sqlite3.connect(Path(folder) / "records.sqlite")
        store.execute("create table record (number integer primary key, debate, file, place, value)")
        store.execute("pragma journal_mode = off")
        for number, (file, place, value) in enumerate(records):
            debate = json.dumps(found(str(mapping.debates.group_by), value), ensure_ascii=False)
            store.execute(
                "insert into record values (?, ?, ?, ?, ?)",
                (number, _bare(debate), file, place, _bare(json.dumps(value, ensure_ascii=False))),
            )
        store.execute("create index by_debate on record (debate, number)")
        # Columns beside min() come from the row that has it.
        debates = store.execute("select debate, file, place, min(number) from record group by debate order by 4")
        for debate, file, place, _ in debates.fetchall():
            rows = store.execute("select value from record where debate = ? order by number", (debate,))
            key = json.loads(debate)
            named = key if isinstance(key, str) else debate
            yield Content(file, f"from {place}", [json.loads(row[0]) for row in rows], {**of_file, "path": named})
        store.close()


def _bare(text: str) -> str:
    # SQLite holds UTF-8 alone; a lone surrogate becomes the character that stands for a lost one.
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
