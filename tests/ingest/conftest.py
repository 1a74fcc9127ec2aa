"""Fixtures of the ingest room."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.archive import Selection
from tests.ingest.archives import ArchiveBuilder, Load, Loaded, load_into


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Loads an archive, given as a builder or a directory; each call works in its own directory."""
    calls = iter(range(1000))

    def load_archive(archive: ArchiveBuilder | Path, selection: Selection | None = None) -> Loaded:
        work = tmp_path / f"load-{next(calls)}"
        directory = archive if isinstance(archive, Path) else archive.write(work / "archive")
        return load_into(directory, work, selection)

    return load_archive


@pytest.fixture
def archive() -> ArchiveBuilder:
    return ArchiveBuilder()


@pytest.fixture(scope="session")
def sample() -> Path:
    return Path(__file__).parents[2] / "sample"


@pytest.fixture(scope="session")
def loaded_sample(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    return load_into(sample, tmp_path_factory.mktemp("sample"))
