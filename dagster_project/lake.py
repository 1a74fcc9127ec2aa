"""Where everything lies on disk: the one path resolver of the project.

Imports the standard library alone, so that the dashboards can ask for the warehouse's path without loading Dagster.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROJECT_ROOT = Path(__file__).resolve().parent.parent
LAKE_VARIABLE = "REPRISE_LAKE"

# What a run that calls models shows of itself, apart from what the marts are built from.
LIVE_LEDGER = "live_ledger"
STUDY_REPORT = "study_report"

# Readers that opened an earlier build keep it after it is unlinked; a few are kept on disk for whoever compares builds.
KEPT_BUILDS = 3


def resolve_lake(configured: str | os.PathLike[str] | None = None) -> "Lake":
    """The lake in force: `REPRISE_LAKE`, else `configured` (a study's `lake:`), else `lake/` in the project root.

    Relative paths start at the project root, so that a command gives the same lake from any folder.

    Raises LakeError for a path that cannot be a lake.
    """
    named = os.environ.get(LAKE_VARIABLE) or configured or "lake"
    try:
        root = (PROJECT_ROOT / Path(named).expanduser()).resolve()
        in_the_way = root.exists() and not root.is_dir()
    except (OSError, RuntimeError, ValueError) as error:
        raise LakeError(f"The lake {named!r} is no path that can be followed: {error}. Name another folder.") from error
    if in_the_way:
        raise LakeError(f"The lake {root} is not a folder. Name one, or one that can be made.")
    # DuckDB reads the lake's files by patterns, and folders like a=b as columns.
    if unfit := re.search(r"[*?\[\]=]", str(root)):
        raise LakeError(f"The lake {root} has {unfit[0]!r} in its path, which SQL takes for a pattern. Name another.")
    return Lake(root)


class LakeError(RuntimeError):
    """The lake cannot be there, or lacks something that an earlier asset writes; the message says what to do."""


@dataclass(frozen=True)
class Lake:
    """The paths below one lake root, and the two ways to change what they hold: `replace` and `publish`."""

    root: Path

    def make(self) -> None:
        """Make the lake's folder unless it is there. Raises LakeError when it cannot be made or written to."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LakeError(f"The lake {self.root} cannot be made ({error.strerror}). Name another folder.") from error
        if not os.access(self.root, os.W_OK | os.X_OK):
            raise LakeError(
                f"The lake {self.root} cannot be written to. Change its permissions, or name another folder."
            )

    @property
    def warehouse(self) -> Path:
        """The symbolic link that people open: the newest published file."""
        return self.root / "warehouse.duckdb"

    @property
    def study_report(self) -> Path:
        """The newest report: a path that stays the same, whatever it points at."""
        return self._link(STUDY_REPORT) / "report.html"

    @property
    def live_ledger(self) -> Path | None:
        """The small database in which a run that calls models shows where it stands; None when none ever did."""
        link = self._link(LIVE_LEDGER)
        return link.resolve() / "ledger.duckdb" if link.exists() else None

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

    @property
    def dbt_target(self) -> Path:
        """dbt's artifacts. They outlive a build: what dbt has parsed before, it parses in a third of the time."""
        return self.root / "dbt_target"

    def table(self, name: str) -> Path:
        """The directory that holds `name` as it was last completed.

        The path is resolved: whoever reads several files through it reads one state of them. Raises LakeError when
        `name` has never been completed.
        """
        link = self._link(name)
        if not link.exists():
            asset = name.split("/")[0]
            raise LakeError(f"The lake {self.root} holds no {name} yet. Materialize the asset {asset} first.")
        return link.resolve()

    def digest(self, name: str) -> str | None:
        """The digest that names the present content of `name`, None when it has never been completed."""
        link = self._link(name)
        return link.resolve().name if link.exists() else None

    def is_whole(self, name: str) -> bool:
        """Whether `name` has been completed and still holds what was written: its digest is that of its content."""
        digest = self.digest(name)
        return digest is not None and directory_digest(self.table(name))[:16] == digest

    def _link(self, name: str) -> Path:
        return self.root / name / "current"

    @contextlib.contextmanager
    def replace(self, name: str) -> Iterator[Path]:
        """A directory to fill; when the block ends well it becomes `table(name)` in one step.

        The directory is named by the digest of its content, so a writer that reproduces what is there changes nothing.
        When the block raises, nothing changes and the half-filled directory is removed. What the link points at is on
        the disk before it does: a machine that loses power has the old state or the new one.
        """
        home = self.root / name
        home.mkdir(parents=True, exist_ok=True)
        with _draft(home) as draft:
            yield draft
            final = home / directory_digest(draft)[:16]
            _sync_all(draft)
            # One writer at a time from here on: another's sweep must not take what this one is about to point at.
            with _locked(home / ".lock"):
                # A directory that no longer holds what its name says (a torn write, a hand's edit) is replaced.
                if final.exists() and directory_digest(final)[:16] != final.name:
                    shutil.rmtree(final)
                if not final.exists():
                    draft.chmod(0o755)
                    draft.replace(final)
                    _sync(home)
                # The state before this one stays, for a step that is still reading it.
                kept = {final.name, self.digest(name), "current"}
                _point(self._link(name), Path(final.name))
                for stale in home.iterdir():
                    if stale.is_dir() and stale.name not in kept and not stale.name.startswith("."):
                        shutil.rmtree(stale)

    def publish(self, draft: Path, digest: str) -> Path:
        """Move the finished database file `draft` to its published name and point `warehouse.duckdb` at it.

        `draft` must lie in the lake (same file system), because only a rename is atomic.
        """
        self.published.mkdir(parents=True, exist_ok=True)
        final = self.published / f"warehouse-{digest[:16]}.duckdb"
        _sync(draft)
        draft.replace(final)
        final.touch()
        _sync(self.published)
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
        command line beside the UI.
        """
        with _locked(self.root / ".writer.lock"):
            yield

    @contextlib.contextmanager
    def command(self, wait: bool = True) -> Iterator[bool]:
        """Hold the lake's one slot for runs from the command line; yields whether it is held.

        With `wait` it always is. Without, a slot that another process holds yields False at once.
        """
        with _locked(self.root / ".command.lock", wait) as held:
            yield held


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
    _sync(link.parent)


@contextlib.contextmanager
def _locked(file: Path, wait: bool = True) -> Iterator[bool]:
    """Hold an exclusive lock on `file`; the kernel frees it when the process ends, however it ends."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            held = True
        except BlockingIOError:
            held = False
        yield held


@contextlib.contextmanager
def _draft(home: Path) -> Iterator[Path]:
    """A directory to fill below `home`, removed at the end if it is still there, by the next writer if not before.

    Its writer holds a lock on it while it lives. A process id would not do: another process may have it by now.
    """
    with _locked(home / ".lock"):
        for abandoned in home.glob(".draft-*"):
            with _locked_directory(abandoned) as held:
                if held:
                    shutil.rmtree(abandoned, ignore_errors=True)
        draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=home))
        lock = contextlib.ExitStack()
        lock.enter_context(_locked_directory(draft))
    with lock:
        try:
            yield draft
        finally:
            shutil.rmtree(draft, ignore_errors=True)


@contextlib.contextmanager
def _locked_directory(directory: Path) -> Iterator[bool]:
    """Hold an exclusive lock on `directory` itself; yields False at once when another holds it, or it is gone."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        yield False
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held = True
        except BlockingIOError:
            held = False
        yield held
    finally:
        os.close(descriptor)


def _sync_all(directory: Path) -> None:
    """Bring `directory` and everything below it to the disk."""
    for path in directory.rglob("*"):
        _sync(path)
    _sync(directory)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
