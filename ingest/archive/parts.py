"""What an archive consists of: one part, or several that lie in sub-directories."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ingest.errors import ArchiveError

KNOWN_FILES = {
    "motions": "motions.jsonl",
    "sessions": "sessions.jsonl",
    "turns": "turns.jsonl",
    "extractions": "extractions.jsonl",
    "annotations": "annotations.csv",
    "judgments": "judgments.jsonl",
}

_KNOWN = ", ".join(KNOWN_FILES.values())
_DATA_NAME = re.compile(r"\.(jsonl?|ndjson|csv)(\.gz)?$", re.IGNORECASE)


@dataclass(frozen=True)
class Part:
    """Archive files that were delivered together. `name` is a slug, safe as a directory name and a partition key.

    `files` maps a table to its file; `other_files` are data files whose names the contract does not know.
    """

    name: str
    directory: Path
    files: Mapping[str, Path]
    other_files: tuple[str, ...]

    def fingerprint(self) -> str:
        """SHA-256 over the names and bytes of the part's files, as hexadecimal digits. Raises ArchiveError."""
        digest = hashlib.sha256()
        for path in sorted(self.files.values()):
            try:
                with path.open("rb") as stored:
                    content = hashlib.file_digest(stored, "sha256").hexdigest()
            except OSError as error:
                raise ArchiveError.from_os_error(path, error) from error
            digest.update(f"{path.name}\0{content}\0".encode())
        return digest.hexdigest()


def find_parts(archive: Path) -> list[Part]:
    """The parts of an archive, by name.

    A directory that holds known files is one part, named after itself; otherwise each of its sub-directories that
    holds known files is one. Raises ArchiveError when there is nothing to read or no single way to read it.
    """
    if not archive.exists():
        raise ArchiveError(archive, "does not exist", "Give the directory that holds the archive's files")
    if not archive.is_dir():
        raise ArchiveError(archive, "is not a directory", "Give the directory that holds the archive's files")
    own = _part(archive, archive.resolve().name)
    try:
        directories = sorted(path for path in archive.iterdir() if path.is_dir() and not path.name.startswith("."))
    except OSError as error:
        raise ArchiveError.from_os_error(archive, error) from error
    nested = [part for path in directories if (part := _part(path, path.name)) is not None]
    if own is not None and nested:
        raise ArchiveError(
            archive,
            f"holds archive files itself and in sub-directories ({', '.join(part.directory.name for part in nested)})",
            "Move its own files into a sub-directory, or the sub-directories elsewhere",
        )
    if own is not None:
        return [own]
    if not nested:
        raise ArchiveError(
            archive, "holds no archive files", f"Put at least one of {_KNOWN} in it (JSON Lines may be gzipped)"
        )
    _refuse_equal_names(archive, nested)
    return sorted(nested, key=lambda part: part.name)


def files_not_read(archive: Path, parts: Sequence[Part]) -> list[str]:
    """Data files anywhere below the archive that belong to no part, by their path in it, in order.

    Hidden folders are left alone, as they are by `find_parts`.
    """
    return sorted(
        str(path.relative_to(archive))
        for path in archive.rglob("*")
        if _is_data(path)
        and not any(name.startswith(".") for name in path.relative_to(archive).parts[:-1])
        and not any(_is_one_of(path, part.files) for part in parts)
    )


def _part(directory: Path, name: str) -> Part | None:
    files = {table: path for table, name in KNOWN_FILES.items() if (path := _known_file(directory, name)) is not None}
    if not files:
        return None
    others = sorted(path.name for path in directory.iterdir() if _is_data(path) and not _is_one_of(path, files))
    return Part(_slug(name), directory, files, tuple(others))


def _is_data(path: Path) -> bool:
    return bool(_DATA_NAME.search(path.name)) and path.is_file()


def _is_one_of(path: Path, files: Mapping[str, Path]) -> bool:
    # Names do not tell where a file system takes Turns.JSONL for turns.jsonl.
    return any(path.samefile(file) for file in files.values())


def _known_file(directory: Path, name: str) -> Path | None:
    found = [path for path in (directory / name, directory / f"{name}.gz") if path.exists() or path.is_symlink()]
    for path in found:
        if not path.is_file():
            kind = "is a directory" if path.is_dir() else "is not a file that can be read"
            raise ArchiveError(path, kind, "Replace it with the file of that name, or rename it")
    if len(found) == 2:
        raise ArchiveError(directory, f"holds both {name} and {name}.gz", "Keep the one that is meant")
    return found[0] if found else None


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "part"


def _refuse_equal_names(archive: Path, parts: list[Part]) -> None:
    directories: dict[str, str] = {}
    for part in parts:
        other = directories.setdefault(part.name, part.directory.name)
        if other != part.directory.name:
            raise ArchiveError(
                archive,
                f"has sub-directories {other!r} and {part.directory.name!r}, both of which would be part {part.name!r}",
                "Rename one of them",
            )
