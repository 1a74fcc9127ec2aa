"""Locked grids: what a phase consists of, written down before its first call and compared ever after."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingest.errors import IngestError
from ingest.whole_file import whole_file

_SHOWN = 5


class LockError(IngestError):
    """A grid differs from the one that was locked, or a lock cannot be read. `str()` says what, and the remedy."""


@dataclass(frozen=True)
class Grid:
    """A phase, expanded. `header` holds what all items share; each item is a JSON object with its name in `id`."""

    phase: str
    header: Mapping[str, Any]
    items: tuple[Mapping[str, Any], ...]

    @property
    def digest(self) -> str:
        """SHA-256 over everything that the phase's calls follow from."""
        content = {"phase": self.phase, "header": self.header, "items": self.items}
        return hashlib.sha256(_canonical(content).encode()).hexdigest()


def lock_path(directory: Path, phase: str) -> Path:
    """Where the lock of a phase lies."""
    return directory / f"{phase}.lock.json"


def lock_grid(grid: Grid, directory: Path) -> bool:
    """Locks a grid; True when it was not locked before. The same grid again changes nothing.

    Raises LockError, saying what differs, when another grid is locked under the phase's name.
    """
    path = lock_path(directory, grid.phase)
    locked = read_lock(directory, grid.phase)
    if locked is not None:
        if locked.digest == grid.digest:
            return False
        raise LockError(
            f"Phase {grid.phase!r} is locked in {path}, and its grid has changed: "
            f"{'; '.join(differences(locked, grid))}. Undo the change, or give the changed phase another name. "
            "(Delete the lock only if no call was made under it.)"
        )
    lines = ",\n  ".join(_canonical(item) for item in grid.items)
    text = (
        f'{{"phase": {json.dumps(grid.phase)}, "digest": "{grid.digest}",\n'
        f' "header": {_canonical(grid.header)},\n "items": [\n  {lines}\n ]}}\n'
    )
    with whole_file(path) as file:
        file.write(text)
    return True


def read_lock(directory: Path, phase: str) -> Grid | None:
    """The grid that is locked for a phase, None when none is. Raises LockError when the file was changed by hand."""
    path = lock_path(directory, phase)
    if not path.exists():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        grid = Grid(content["phase"], content["header"], tuple(content["items"]))
        intact = content["digest"] == grid.digest and grid.phase == phase
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LockError(f"{path} cannot be read ({error}). Restore it from a copy.") from error
    if not intact:
        raise LockError(f"{path} does not hold what its digest says; it was changed by hand. Restore it from a copy.")
    return grid


def read_locks(directory: Path) -> list[Grid]:
    """All locked grids of a directory, by phase. Raises LockError."""
    phases = sorted(path.name.removesuffix(".lock.json") for path in directory.glob("*.lock.json"))
    return [grid for phase in phases if (grid := read_lock(directory, phase)) is not None]


def differences(locked: Grid, grid: Grid) -> list[str]:
    """What has changed, in short sentences without full stops; the first few of many."""
    changed = [
        f"{name} was {_short(was)} and is {_short(is_)}" for name, was, is_ in _changes(locked.header, grid.header, "")
    ]
    before = {item["id"]: item for item in locked.items}
    after = {item["id"]: item for item in grid.items}
    for what, ids in (("added", after.keys() - before.keys()), ("removed", before.keys() - after.keys())):
        if ids:
            changed.append(f"{len(ids)} {what} ({_first(sorted(ids))})")
    differing: dict[str, list[str]] = {}
    for name in sorted(before.keys() & after.keys()):
        for field in sorted(before[name].keys() | after[name].keys()):
            if before[name].get(field) != after[name].get(field):
                differing.setdefault(field, []).append(name)
    changed += [f"{field} differs in {len(names)} ({_first(names)})" for field, names in differing.items()]
    return changed or ["the order of its items differs"]


def _changes(was: Any, is_: Any, name: str) -> list[tuple[str, Any, Any]]:
    if isinstance(was, Mapping) and isinstance(is_, Mapping):
        return [
            change
            for key in sorted(was.keys() | is_.keys())
            for change in _changes(was.get(key), is_.get(key), f"{name}.{key}" if name else key)
        ]
    return [] if was == is_ else [(name, was, is_)]


def _short(value: Any) -> str:
    text = "absent" if value is None else _canonical(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _first(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")


def _canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)
