"""Errors meant for the person who runs a study: each says what is wrong, where, and what to do about it."""

from __future__ import annotations

from pathlib import Path


class IngestError(Exception):
    """Base of everything this room raises on purpose."""


class ArchiveError(IngestError):
    """An archive that cannot be read at all. `str()` is a complete message: place, problem, remedy.

    A record that cannot be used is never an exception; it is a row in `rejects.parquet`.
    """

    def __init__(self, path: Path, problem: str, remedy: str) -> None:
        super().__init__(f"{path} {problem}. {remedy}.")
        self.path = path
        self.problem = problem
        self.remedy = remedy

    @classmethod
    def from_os_error(cls, path: Path, error: OSError) -> ArchiveError:
        return cls(path, f"cannot be read ({error.strerror or error})", "Check that the file exists and is readable")
