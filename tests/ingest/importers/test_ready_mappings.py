"""Each mapping that comes with Reprise, on a source of its shape."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ingest.importers import load_mapping, ready_mappings
from tests.ingest.archives import load_into
from tests.ingest.importers.imported import DATA, Import

# Debates, turns and claims of the fixtures, counted by hand.
COUNTS = {
    "agents_rounds": (2, 6, 0),
    "events": (2, 4, 0),
    "markdown": (1, 2, 0),
    "messages": (2, 6, 0),
    "speeches": (2, 10, 0),
    "turn_logs": (1, 3, 3),
    "turn_rows": (2, 4, 0),
    "units_by_language": (4, 8, 10),
}


def test_every_ready_mapping_has_a_fixture() -> None:
    assert set(ready_mappings()) == set(COUNTS) == {path.name for path in DATA.iterdir()}


@pytest.mark.parametrize("name", sorted(COUNTS))
def test_a_ready_mapping_finds_every_debate_turn_and_claim(name: str, imported: Import) -> None:
    report = imported(load_mapping(name), DATA / name).report
    assert (report.debates, report.turns, report.n_claims) == COUNTS[name]


@pytest.mark.parametrize("name", sorted(COUNTS))
def test_what_is_imported_is_an_archive_without_rejects(name: str, imported: Import, tmp_path: Path) -> None:
    done = imported(load_mapping(name), DATA / name)
    loaded = load_into(done.folder, tmp_path / "loaded", protocol="free")
    assert loaded.rejects() == []
    assert loaded.report.tables["sessions"].kept == done.report.debates
    assert loaded.report.tables["turns"].kept == done.report.turns


def test_messages_are_turns_of_who_is_named_and_parts_are_joined(imported: Import) -> None:
    done = imported(load_mapping("messages"), DATA / "messages")
    assert done.spoken("zoo-1") == [
        (1, "alice", "Cages harm animals. A life behind glass is no life."),
        (2, "bob", "Zoos breed rare species.\n\nSome exist nowhere else."),
        (3, "alice", "Breeding does not need visitors."),
        (4, "bob", "Zoos breed rare species.\n\nSome exist nowhere else."),
    ]
    turns = {turn["turn_index"]: turn for turn in done.records("turns") if turn["session_id"] == "zoo-1"}
    assert turns[3]["reasoning"] == "Attack breeding."
    assert turns[4]["repeats_turn"] == 2
    assert done.report.findings == {
        "item_not_selected": 2,
        "part_not_text": 1,
        "path_never_found": 1,
        "reasoning_set_aside": 1,
        "turn_repeated": 1,
    }


def test_speeches_alternate_and_a_missing_one_keeps_its_place(imported: Import) -> None:
    done = imported(load_mapping("speeches"), DATA / "speeches")
    assert done.spoken("uniforms") == [
        (1, "pro", "Uniforms hide income."),
        (2, "con", "Uniforms cost families money."),
        (3, "pro", "Badges are not brands."),
        (5, "pro", "Equal clothes, equal start."),
    ]
    sessions = {session["session_id"]: session for session in done.records("sessions")}
    assert sessions["uniforms"]["status"] == "partial"
    assert sessions["uniforms"]["attributes"] == {"pro_model": "model-a", "con_model": "model-b"}
    assert sessions["homework"]["status"] == "complete"
    assert sessions["homework"]["agents"] == {"pro": "model-b", "con": "model-a"}
    assert [finding["place"] for finding in done.found("speech_missing")] == ["uniforms, turn 4", "uniforms, turn 6"]


def test_turn_logs_are_put_in_order_with_their_claims(imported: Import) -> None:
    done = imported(load_mapping("turn_logs"), DATA / "turn_logs")
    [session] = done.records("sessions")
    assert {name: session[name] for name in ("session_id", "motion_id", "condition", "repeat", "status")} == {
        "session_id": "s1",
        "motion_id": "m1",
        "condition": "diversity",
        "repeat": 2,
        "status": "complete",
    }
    assert session["role_mapping"] == {"pro_1": "alpha", "con_1": "beta"}
    assert done.claims("s1") == {
        1: ["Cars kill people.", "Streets are for people."],
        2: ["Cities need deliveries."],
        3: [],
    }
    answers = {record["turn_index"]: json.loads(record["raw_response"]) for record in done.records("extractions")}
    assert answers[2]["arguments"][0] == {
        "claim": "Cities need deliveries.",
        "warrant": "Food comes by van.",
        "evidence_or_example": "",
        "argument_type": "practical",
    }
    assert len(done.found("claim_blank")) == 1


def test_events_between_two_starts_are_one_debate(imported: Import) -> None:
    done = imported(load_mapping("events"), DATA / "events")
    assert done.spoken("d1") == [(1, "ann", "Exams test memory.\u2028They test nerves."), (2, "ben", "Memory matters.")]
    assert done.spoken("d2") == [(1, "ben", "Degrees need proof."), (2, "ann", "Projects are proof.")]
    assert {session["motion_id"] for session in done.records("sessions")} == {done.records("motions")[0]["motion_id"]}
    assert [session.get("attributes") for session in done.records("sessions")] == [{"winner": "ann"}, None]
    assert [finding["place"] for finding in done.found("record_unreadable")] == ["line 8"]
    assert done.report.findings["number_as_null"] == 1


def test_agents_of_a_round_speak_before_the_next_round(imported: Import) -> None:
    done = imported(load_mapping("agents_rounds"), DATA / "agents_rounds")
    assert done.spoken("gsm/1") == [
        (1, "agent 1", "Twelve, by adding four thrice."),
        (2, "agent 2", "Eleven."),
        (3, "agent 1", "Still twelve."),
        (4, "agent 2", "Twelve, I was wrong."),
    ]
    assert [turn["phase"] for turn in done.records("turns")][:4] == ["round 1", "round 1", "round 2", "round 2"]
    assert {session["motion_text"] for session in done.records("sessions")} == {
        "What is 3 times 4?",
        "What is 2 plus 2?",
    }


def test_a_table_with_a_column_a_language_is_a_debate_a_language(imported: Import) -> None:
    done = imported(load_mapping("units_by_language"), DATA / "units_by_language")
    sessions = [(s["session_id"], s["motion_id"], s["language"]) for s in done.records("sessions")]
    assert sessions == [("b1-en", "b1", "en"), ("b1-de", "b1", "de"), ("b2-en", "b2", "en"), ("b2-de", "b2", "de")]
    assert done.spoken("b1-en") == [
        (1, "pro", "Parks cool the city, cheaply.\n\nTrees give shade."),
        (2, "con", "Housing comes first."),
        (3, "pro", "Roofs can be green."),
    ]
    assert done.claims("b1-de") == {
        1: ["Parks kühlen die Stadt.", "Bäume spenden Schatten."],
        2: ["Wohnungen gehen vor."],
        3: ["Dächer können grün sein."],
    }
    assert done.report.findings["language_absent"] == 8


def test_rows_are_sorted_by_number_and_grouped_by_debate(imported: Import) -> None:
    done = imported(load_mapping("turn_rows"), DATA / "turn_rows")
    assert done.spoken("t1") == [
        (1, "amy", "Dogs calm people.\nThey also walk."),
        (2, "bob", 'Some people are allergic, "really".'),
        (3, "bob", "No."),
    ]
    assert done.spoken("t2") == [(2, "bob", "Cats are calmer.")]
    assert [session["repeat"] for session in done.records("sessions")] == [1, 2]


def test_headings_of_markdown_name_the_speakers(imported: Import) -> None:
    done = imported(load_mapping("markdown"), DATA / "markdown")
    assert done.spoken("bikes") == [
        (1, "Ana", "Helmets save lives.\n\nA hospital counts them."),
        (2, "Ben", "Fewer people would cycle."),
    ]
    assert done.records("sessions")[0]["motion_text"] == "Helmets should be compulsory."
