"""Answers of people: durable when given, apart from each other, and back as annotations."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import time
from pathlib import Path

import pytest

from ingest.label import LabelError, LabelStore, annotations_of_results, as_results, disagreements, unfinished
from tests.ingest.test_label_studio import PAIRS

TASKS = ["t1", "t2", "t3"]


def test_an_answer_is_there_for_whoever_opens_the_file_next(tmp_path: Path) -> None:
    LabelStore(tmp_path).give("t1", "r1", {"label": "3 substantive repetition", "note": "Gleich – «同»"})
    (given,) = LabelStore(tmp_path).all()
    assert (given.task_id, given.annotator) == ("t1", "r1")
    assert given.answer == {"label": "3 substantive repetition", "note": "Gleich – «同»"}


def test_the_last_answer_is_in_force_and_the_file_keeps_them_all(tmp_path: Path) -> None:
    store = LabelStore(tmp_path)
    store.give("t1", "r1", {"label": "0 new"})
    store.give("t1", "r1", {"label": "1 topically related"})
    store.give("t1", "r2", {"label": "2 partial repetition or extension"})
    assert store.of("r1")["t1"].answer == {"label": "1 topically related"}
    with sqlite3.connect(store.path) as db:
        assert db.execute("select count(*) from answers").fetchone() == (3,)


def test_undo_takes_back_the_annotators_own_last_answer_of_the_round_and_kind(tmp_path: Path) -> None:
    store = LabelStore(tmp_path)
    for task, annotator, number in (
        ("t1", "r1", 1),
        ("t2", "r1", 1),
        ("t9", "r1", 1),
        ("t2", "r2", 1),
        ("t1", "r1", 2),
    ):
        store.give(task, annotator, {"label": "0 new"}, number)
    assert store.undo("r1", TASKS) == "t2"
    assert store.undo("r1", TASKS) == "t1"
    assert store.undo("r1", TASKS) is None
    assert sorted(store.of("r1")) == ["t9"]
    assert sorted(store.of("r2")) == ["t2"]
    assert sorted(store.of("r1", 2)) == ["t1"]


def test_an_undone_answer_does_not_bring_an_older_one_back(tmp_path: Path) -> None:
    store = LabelStore(tmp_path)
    store.give("t1", "r1", {"label": "0 new"})
    store.give("t1", "r1", {"label": "3 substantive repetition"})
    assert store.undo("r1", TASKS) == "t1"
    assert store.of("r1") == {}


def test_disagreements_and_what_is_left_follow_from_the_answers(tmp_path: Path) -> None:
    store = LabelStore(tmp_path)
    for annotator, labels in {"r1": ("0 new", "0 new", "0 new"), "r2": ("0 new", "1 topically related")}.items():
        for task, label in zip(TASKS, labels, strict=False):
            store.give(task, annotator, {"label": label})
    given = store.all()
    assert disagreements(given, TASKS, "label") == ["t2"]
    assert unfinished(given, TASKS) == {"r2": 1}
    # Whoever labels the other kind of task alone owes nothing here.
    store.give("u1", "r3", {"quality": "4"})
    assert unfinished(store.all(), TASKS) == {"r2": 1}


def test_answers_become_annotations_like_those_of_label_studio(tmp_path: Path) -> None:
    store = LabelStore(tmp_path)
    store.give("t1", "r1", {"label": "2 partial repetition or extension", "note": "Narrower."})
    store.give("t2", "r1", {"label": "cannot judge"})
    rows, not_given = annotations_of_results(PAIRS, as_results(store.all()), {"r1": "r1"})
    assert not_given == 1
    (row,) = rows
    assert (row["argument_id"], row["label"], row["note"], row["weight"]) == (
        "S1-zh-baseline/4/1",
        2,
        "Narrower.",
        1.0,
    )


def test_a_file_that_is_no_database_is_told_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "labels.sqlite").write_bytes(b"no database at all, but long enough to look like a page" * 40)
    with pytest.raises(LabelError, match=r"labels\.sqlite cannot be read or written"):
        LabelStore(tmp_path)


def _label_until_killed(directory: Path, annotator: str, said: Path) -> None:
    store = LabelStore(directory)
    with said.open("a") as file:
        for number in range(100_000):
            store.give(f"t{number}", annotator, {"label": "0 new"})
            # Written after the answer: whatever stands here was kept.
            file.write(f"t{number}\n")
            file.flush()
            os.fsync(file.fileno())


def test_no_answer_is_lost_when_those_who_label_at_once_are_killed(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    LabelStore(tmp_path)
    people = [
        context.Process(target=_label_until_killed, args=(tmp_path, code, tmp_path / code)) for code in ("r1", "r2")
    ]
    for person in people:
        person.start()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not all((tmp_path / code).exists() for code in ("r1", "r2")):
        time.sleep(0.05)
    time.sleep(1.0)
    for person in people:
        person.kill()
        person.join()
    store = LabelStore(tmp_path)
    for code in ("r1", "r2"):
        told = (tmp_path / code).read_text().split()
        assert len(told) > 5
        kept = store.of(code)
        assert set(told) <= kept.keys()
        # At most the one answer that was given and not yet told of.
        assert len(kept) - len(told) <= 1
        assert {given.annotator for given in kept.values()} == {code}
