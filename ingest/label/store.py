"""What people answer while they label: one SQLite file beside the plan, each answer on the disk before the next task.

Nothing is ever overwritten. A second answer to a task, or an undo, leaves the first in the file and takes its place.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ingest.label.label_studio import LabelError

FILE = "labels.sqlite"

_SCHEMA = """
create table if not exists answers (
    answer_id integer primary key,
    task_id text not null,
    annotator text not null,
    round integer not null,
    answer text not null,
    created_at text not null,
    undone_at text
) strict;
create index if not exists answers_by_annotator on answers (annotator, round, task_id);
"""
# The answer in force: the last one to a task that was not taken back.
_IN_FORCE = """
select task_id, annotator, answer, created_at from answers
where undone_at is null and round = :round
    and answer_id in (
        select max(answer_id) from answers where undone_at is null group by task_id, annotator, round
    )
"""


@dataclass(frozen=True)
class Given:
    """An answer in force: what was chosen by the name of its control (label or quality, flags, note)."""

    task_id: str
    annotator: str
    answer: Mapping[str, str]
    created_at: str


class LabelStore:
    """The answers to the tasks of one plan. Any number of processes may use one file at once.

    Raises LabelError, naming the file, where SQLite cannot read or write it.
    """

    def __init__(self, directory: Path) -> None:
        """Opens, or begins, the answers of the plan in `directory`."""
        self.path = directory / FILE
        with self._open() as db:
            db.executescript(_SCHEMA)

    def give(self, task_id: str, annotator: str, answer: Mapping[str, str], number: int = 1) -> None:
        """Keeps an answer of round `number`. It is on the disk when this returns."""
        row = (task_id, annotator, number, json.dumps(dict(answer), ensure_ascii=False), _now())
        with self._open() as db:
            db.execute(
                "insert into answers (task_id, annotator, round, answer, created_at) values (?, ?, ?, ?, ?)", row
            )

    def undo(self, annotator: str, task_ids: Collection[str], number: int = 1) -> str | None:
        """Takes back the annotator's last answer to one of these tasks and returns which; None when there is none."""
        with self._open() as db:
            db.execute("begin immediate")
            rows = db.execute(
                "select answer_id, task_id from answers where annotator = ? and round = ? and undone_at is null "
                "order by answer_id desc",
                (annotator, number),
            ).fetchall()
            last = next(((answer_id, task) for answer_id, task in rows if task in set(task_ids)), None)
            if last is not None:
                # An earlier answer to the same task does not come back into force.
                db.execute(
                    "update answers set undone_at = ? "
                    "where annotator = ? and round = ? and task_id = ? and undone_at is null",
                    (_now(), annotator, number, last[1]),
                )
            db.execute("commit")
        return None if last is None else last[1]

    def of(self, annotator: str, number: int = 1) -> dict[str, Given]:
        """An annotator's own answers by task."""
        return {given.task_id: given for given in self.all(number) if given.annotator == annotator}

    def all(self, number: int = 1) -> list[Given]:
        """Everybody's answers, by task and annotator. For adjudication and export: no annotator is shown these."""
        with self._open() as db:
            rows = db.execute(f"{_IN_FORCE} order by task_id, annotator", {"round": number}).fetchall()
        return [Given(task, annotator, json.loads(answer), moment) for task, annotator, answer, moment in rows]

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, timeout=30, isolation_level=None)) as db:
                db.execute("pragma journal_mode = wal")
                db.execute("pragma synchronous = full")
                yield db
        except sqlite3.Error as error:
            raise LabelError(f"{self.path} cannot be read or written ({error}); no answer was kept") from error


def disagreements(given: Collection[Given], task_ids: Collection[str], control: str) -> list[str]:
    """The tasks that two annotators or more answered, and not alike, in the order of `task_ids`."""
    answers: dict[str, list[str | None]] = {}
    for one in given:
        answers.setdefault(one.task_id, []).append(one.answer.get(control))
    return [task for task in task_ids if len(set(answers.get(task, ()))) > 1]


def unfinished(given: Collection[Given], task_ids: Collection[str]) -> dict[str, int]:
    """How many of these tasks each annotator who began has left; nobody who is done is in it."""
    wanted = set(task_ids)
    done: dict[str, set[str]] = {}
    for one in given:
        done.setdefault(one.annotator, set()).update({one.task_id} & wanted)
    return {annotator: left for annotator, tasks in sorted(done.items()) if tasks and (left := len(wanted - tasks))}


def as_results(given: Collection[Given]) -> list[dict[str, Any]]:
    """The answers as Label Studio exports them: tasks with their annotations."""
    tasks: dict[str, list[dict[str, Any]]] = {}
    for one in given:
        parts = [
            {
                "from_name": name,
                "to_name": "turn" if "quality" in one.answer else "later",
                "type": "textarea" if name == "note" else "choices",
                "value": {"text": [value]} if name == "note" else {"choices": [value]},
            }
            for name, value in one.answer.items()
        ]
        tasks.setdefault(one.task_id, []).append(
            {"completed_by": one.annotator, "was_cancelled": False, "created_at": one.created_at, "result": parts}
        )
    return [{"data": {"task_id": task}, "annotations": annotations} for task, annotations in sorted(tasks.items())]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
