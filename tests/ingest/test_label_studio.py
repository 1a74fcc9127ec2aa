from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from ingest.label import (
    EXTRACTION_CONFIG,
    REPETITION_CONFIG,
    LabelError,
    annotations_of_results,
    extraction_tasks,
    repetition_tasks,
    write_annotations,
)
from tests.ingest.archives import ArchiveBuilder, Load

PAIRS = [
    {
        "position": 2,
        "task_id": "t2",
        "argument_id": "S1-zh-baseline/3/1",
        "nearest_argument_id": "S1-zh-baseline/1/1",
        "language": "zh",
        "similarity": 0.91,
        "stratum": "zh-q5",
        "weight": 2.5,
    },
    {
        "position": 1,
        "task_id": "t1",
        "argument_id": "S1-zh-baseline/4/1",
        "nearest_argument_id": "S1-zh-baseline/2/1",
        "language": "zh",
        "similarity": 0.52,
        "stratum": "zh-q1",
        "weight": 1.0,
    },
]
TURNS = [
    {
        "position": 1,
        "task_id": "u1",
        "session_id": "S1-zh-baseline",
        "turn_index": 2,
        "language": "zh",
        "stratum": "zh",
        "weight": 4.0,
    }
]
CLAIMS = {f"S1-zh-baseline/{turn}/1": f"论点{turn}" for turn in range(1, 5)}
CODES = {"7": "r1", "b@example.org": "r2"}


def answered(user: Any, *results: tuple[str, str], skipped: bool = False) -> dict[str, Any]:
    return {
        "completed_by": user,
        "was_cancelled": skipped,
        "created_at": "2026-01-02T03:04:05Z",
        "result": [
            {
                "from_name": name,
                "to_name": "later",
                "type": "textarea" if name == "note" else "choices",
                "value": {"text": [value]} if name == "note" else {"choices": [value]},
            }
            for name, value in results
        ],
    }


def exported(tasks: list[dict[str, Any]], **annotations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What Label Studio exports: its own ids, the task's data as imported, and the annotations."""
    return [
        {"id": number, "data": task["data"], "annotations": annotations.get(task["data"]["task_id"], [])}
        for number, task in enumerate(tasks, start=101)
    ]


def test_tasks_come_in_the_plans_order_and_hold_nothing_but_the_texts_and_their_language() -> None:
    tasks = repetition_tasks(PAIRS, CLAIMS)
    assert tasks == [
        {"data": {"task_id": "t1", "language": "zh", "earlier_claim": "论点2", "later_claim": "论点4"}},
        {"data": {"task_id": "t2", "language": "zh", "earlier_claim": "论点1", "later_claim": "论点3"}},
    ]
    turns = extraction_tasks(TURNS, {("S1-zh-baseline", 2): "发言"}, {("S1-zh-baseline", 2): ["一", "二"]})
    assert turns == [{"data": {"task_id": "u1", "language": "zh", "turn": "发言", "units": "1. 一\n\n2. 二"}}]
    written = json.dumps([tasks, turns], ensure_ascii=False)
    for hidden in ("S1", "baseline", "0.91", "zh-", "q5"):
        assert hidden not in written


@pytest.mark.parametrize(
    ("config", "tasks"),
    [
        (REPETITION_CONFIG, repetition_tasks(PAIRS, CLAIMS)),
        (EXTRACTION_CONFIG, extraction_tasks(TURNS, {("S1-zh-baseline", 2): "发言"}, {})),
    ],
)
def test_the_labelling_configuration_is_xml_that_shows_what_the_tasks_hold(config: str, tasks: list[dict]) -> None:
    view = ET.fromstring(config)
    shown = {node.attrib["value"].removeprefix("$") for node in view.iter("Text")}
    assert shown == set(tasks[0]["data"]) - {"task_id", "language"}
    controls = [node.attrib["name"] for node in view if "toName" in node.attrib]
    assert len(set(controls)) == len(controls)
    named = {node.attrib["name"] for node in view.iter("Text")}
    assert {node.attrib["toName"] for node in view if "toName" in node.attrib} <= named


def test_results_become_annotations_that_the_archive_reads(archive: ArchiveBuilder, load: Load, tmp_path: Path) -> None:
    archive.add_session("S1-zh-baseline", language="zh")
    directory = archive.write(tmp_path / "archive")
    results = exported(
        repetition_tasks(PAIRS, CLAIMS),
        t1=[answered(7, ("label", "2 partial repetition or extension"), ("note", 'a "quoted", note\nin two lines'))],
        t2=[
            answered(7, ("label", "3 substantive repetition")),
            answered({"id": 9, "email": "b@example.org"}, ("label", "cannot judge")),
        ],
    )
    audits = exported(
        extraction_tasks(TURNS, {("S1-zh-baseline", 2): "发言"}, {}),
        u1=[answered("b@example.org", ("quality", "4"), ("hallucination", "false"), ("over_split", "true"))],
    )
    pairs, not_given = annotations_of_results(PAIRS, results, CODES)
    turns, none = annotations_of_results(TURNS, audits, CODES)
    assert (not_given, none) == (1, 0)
    assert write_annotations(directory / "annotations.csv", [*pairs, *turns]) == 3

    loaded = load(directory)
    assert loaded.rejects() == []
    rows = loaded.rows("annotations")
    by_argument = {row["argument_id"]: row for row in rows if row["task"] == "repetition"}
    assert {name: row["label"] for name, row in by_argument.items()} == {
        "S1-zh-baseline/4/1": 2,
        "S1-zh-baseline/3/1": 3,
    }
    partial = by_argument["S1-zh-baseline/4/1"]
    assert (partial["annotator"], partial["round"], partial["stratum"], partial["weight"]) == ("r1", 1, "zh-q1", 1.0)
    assert partial["note"] == 'a "quoted", note\nin two lines'
    (audit,) = [row for row in rows if row["task"] == "extraction"]
    assert (audit["annotator"], audit["quality"], audit["over_split"], audit["hallucination"]) == ("r2", 4, True, False)
    assert audit["all_major_captured"] is None


def test_a_skipped_task_is_counted_and_an_untouched_one_is_not_there() -> None:
    results = exported(repetition_tasks(PAIRS, CLAIMS), t1=[answered(7, skipped=True)])
    assert annotations_of_results(PAIRS, results, CODES) == ([], 1)


@pytest.mark.parametrize(
    ("annotations", "message"),
    [
        ([answered(8, ("label", "0 new"))], "user 8, who has no annotator code"),
        ([answered(7, ("label", "0 new"))] * 2, "r1 labelled task t1 twice"),
        ([answered(7, ("label", "4 verbatim"))], "none of 0 new"),
        ([answered(7)], "has label None"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_with_its_place(annotations: list[dict], message: str) -> None:
    results = exported(repetition_tasks(PAIRS, CLAIMS), t1=annotations)
    with pytest.raises(LabelError, match=message):
        annotations_of_results(PAIRS, results, CODES)


def test_a_strange_task_and_a_missing_text_are_refused() -> None:
    with pytest.raises(LabelError, match="'other' of the export is not in the plan"):
        annotations_of_results(PAIRS, [{"data": {"task_id": "other"}, "annotations": []}], CODES)
    with pytest.raises(LabelError, match=r"S1-zh-baseline/2/1.*not given"):
        repetition_tasks(PAIRS, {})


def test_a_column_that_annotations_do_not_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="similarity"):
        write_annotations(tmp_path / "a.csv", [{"task": "repetition", "similarity": 0.5}])
