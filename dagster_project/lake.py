"""Where everything lies on disk: the one path resolver of the project.

Imports the standard library alone, so that the dashboards can ask for the warehouse's path without loading Dagster.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROJECT_ROOT = Path(__file__).resolve().parent.parent
LAKE_VARIABLE = "REPRISE_LAKE"

# Readers that opened an earlier build keep it after it is unlinked; a few are kept on disk for whoever compares builds.
KEPT_BUILDS = 3


def resolve_lake(configured: str | os.PathLike[str] | None = None) -> "Lake":
    """The lake in force: `REPRISE_LAKE`, else `configured` (a study's `lake:`), else `lake/` in the project root.

    Relative paths start at the project root, so that a command gives the same lake from any folder.
    """
    named = os.environ.get(LAKE_VARIABLE) or configured or "lake"
    return Lake((PROJECT_ROOT / Path(named).expanduser()).resolve())


@dataclass(frozen=True)
class Lake:
    """The paths below one lake root, and the two ways to change what they hold: `replace` and `publish`."""

    root: Path

    @property
    def warehouse(self) -> Path:
        """The symbolic link that people open: the newest published file."""
        return self.root / "warehouse.duckdb"

    @property
    def published(self) -> Path:
        return self.root / "published"

    @property
    def build(self) -> Path:
        """The directory of dbt's working databases."""
        return self.root / "build"

    @property
    def build_warehouse(self) -> Path:
        return self.build / "warehouse.duckdb"

    @property
    def vectors(self) -> Path:
        return self.root / "vectors"

    def table(self, name: str) -> Path:
        """The directory that holds `name` as it was last completed; it exists once its writer has succeeded."""
        return self.root / name / "current"

    @contextlib.contextmanager
    def replace(self, name: str) -> Iterator[Path]:
        """A directory to fill; when the block ends well it becomes `table(name)` in one step.

        The directory is named by the digest of its content, so a writer that reproduces what is there changes nothing.
        When the block raises, nothing changes and the half-filled directory is removed.
        """
        home = self.root / name
        home.mkdir(parents=True, exist_ok=True)
        _sweep_abandoned(home)
        draft = Path(tempfile.mkdtemp(prefix=f".draft-{os.getpid()}-", dir=home))
        try:
            yield draft
            digest = directory_digest(draft)[:16]
            final = home / digest
            if not final.exists():
                draft.chmod(0o755)
                draft.replace(final)
            previous = self.table(name).resolve() if self.table(name).is_symlink() else None
            _point(self.table(name), Path(digest))
            for stale in home.iterdir():
                if (
                    stale.is_dir()
                    and not stale.is_symlink()
                    and stale not in (final, previous)
                    and stale.name[0] != "."
                ):
                    shutil.rmtree(stale)
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def publish(self, draft: Path, digest: str) -> Path:
        """Move the finished database file `draft` to its published name and point `warehouse.duckdb` at it.

        `draft` must lie in the lake (same file system), because only a rename is atomic.
        """
        self.published.mkdir(parents=True, exist_ok=True)
        final = self.published / f"warehouse-{digest[:16]}.duckdb"
        draft.replace(final)
        final.touch()
        _point(self.warehouse, final.relative_to(self.root))
        builds = sorted(self.published.glob("warehouse-*.duckdb"), key=lambda file: file.stat().st_mtime)
        for stale in builds[:-KEPT_BUILDS]:
            if stale != final:
                stale.unlink()
        return final

    @contextlib.contextmanager
    def writer(self) -> Iterator[None]:
        """Hold the lake's one writer slot; waits while another process holds it.

        Dagster's pool already serialises the writers of one instance. This lock also covers two instances, or a
        command line beside the UI, and the kernel frees it when a process is killed.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / ".writer.lock").open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield


def directory_digest(directory: Path) -> str:
    """SHA-256 over the relative names and bytes of all files below `directory`."""
    digest = hashlib.sha256()
    for file in sorted(path for path in directory.rglob("*") if path.is_file()):
        digest.update(str(file.relative_to(directory)).encode() + b"\0")
        with file.open("rb") as handle:
            digest.update(hashlib.file_digest(handle, "sha256").digest())
    return digest.hexdigest()


def _point(link: Path, target: Path) -> None:
    """Make `link` point at `target` (relative to the link) in one atomic step."""
    link.parent.mkdir(parents=True, exist_ok=True)
    fresh = link.with_name(f".{link.name}-{os.getpid()}")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(target)
    fresh.replace(link)


def _sweep_abandoned(home: Path) -> None:
    """Remove drafts whose process is gone: what a killed run leaves behind."""
    for draft in home.glob(".draft-*"):
        pid = int(draft.name.split("-")[1])
        if not _is_alive(pid):
            shutil.rmtree(draft, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
