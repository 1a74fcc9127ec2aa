"""Decoding diagnostics: one new speech after the turns of a debate as they stand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ingest.archive import build_snapshot, find_parts, read_part
from ingest.errors import ArchiveError
from ingest.run.call import CallProblem, CallRequest, ItemFailed, ProviderHalted
from ingest.run.continuations import run_continuations
from ingest.run.planned import PlannedContinuation, PlannedSession
from ingest.run.prompts import load_pack, prompt_sha256, render_turn
from tests.ingest.archives import ArchiveBuilder
from tests.ingest.fake_caller import FakeCaller, agent

PACK = load_pack()
AGENTS = {"c": agent("c"), "d": agent("d", "mistral/x", temperature=1)}
CONTEXT = PlannedSession(
    "S1", "M1", "A motion.", "en", "baseline", 1, {"pro_1": "a", "con_1": "b", "pro_2": "c", "con_2": "d"}
)
CONTINUATIONS = [
    PlannedContinuation(CONTEXT, turn, name, setting)
    for turn in (4, 8)
    for name in ("c", "d")
    for setting in ({"temperature": 0.2}, {"top_p": 0.7})
]


@pytest.fixture
def debates(tmp_path: Path) -> Path:
    archive = ArchiveBuilder()
    archive.add_session("S1", motion_id="M1")
    return archive.write(tmp_path / "debates")


def spoken(request: CallRequest) -> str:
    return f"{request.subject['session_id']} speaks at {dict(request.sampling)}."


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def test_a_continuation_is_a_session_of_the_turns_before_it_and_one_new_speech(debates: Path, tmp_path: Path) -> None:
    dest, caller = tmp_path / "decoding", FakeCaller(spoken)
    report = run_continuations(PACK, CONTINUATIONS, debates, AGENTS, caller, dest)
    assert (report.n_written, report.n_continuations) == (8, 8)
    before = [turn["text"] for turn in lines(debates / "turns.jsonl")]
    turns = [turn for turn in lines(dest / "turns.jsonl") if turn["session_id"] == "S1-t8-d-temperature=0.2"]
    assert [turn["text"] for turn in turns[:7]] == before[:7]
    assert turns[7]["text"] == "S1-t8-d-temperature=0.2 speaks at {'temperature': 0.2}."
    assert (turns[7]["agent"], turns[7]["role"], turns[7]["model_id"]) == ("d", "con_2", "some-model-0101")
    assert turns[7]["prompt_sha256"] == prompt_sha256(render_turn(PACK, CONTEXT, 8, before[:7]))
    (session,) = [one for one in lines(dest / "sessions.jsonl") if one["session_id"] == "S1-t8-d-temperature=0.2"]
    assert (session["condition"], session["status"]) == ("d temperature=0.2", "complete")
    assert [one["status"] for one in lines(dest / "sessions.jsonl")] == ["partial"] * 4 + ["complete"] * 4


def test_the_contexts_are_the_same_for_every_agent_and_setting(debates: Path, tmp_path: Path) -> None:
    caller = FakeCaller(spoken)
    run_continuations(PACK, CONTINUATIONS, debates, AGENTS, caller, tmp_path / "decoding")
    prompts = {(request.subject["turn_index"], request.messages[0]["content"]) for request in caller.asked}
    assert len(caller.asked) == 8
    assert len(prompts) == 2
    assert {tuple(sorted(request.sampling)) for request in caller.asked if request.agent.name == "d"} == {
        ("temperature",),
        ("temperature", "top_p"),
    }


def test_what_it_writes_is_an_archive_like_any_other(debates: Path, tmp_path: Path) -> None:
    run_continuations(PACK, CONTINUATIONS, debates, AGENTS, FakeCaller(spoken), tmp_path / "archive" / "decoding")
    (part,) = find_parts(tmp_path / "archive")
    assert sum(read_part(part, tmp_path / "parts" / part.name).rejects.values()) == 0
    build_snapshot([tmp_path / "parts" / part.name], tmp_path / "snapshot")


def test_a_failed_continuation_is_counted_and_a_halt_is_told(debates: Path, tmp_path: Path) -> None:
    def reply(request: CallRequest) -> str | CallProblem:
        if request.agent.name == "d":
            return ProviderHalted("mistral", "credit", "No credit.", "Buy more.")
        return ItemFailed("empty", "Nothing.") if request.subject["turn_index"] == 4 else spoken(request)

    dest = tmp_path / "decoding"
    report = run_continuations(PACK, CONTINUATIONS, debates, AGENTS, FakeCaller(reply), dest)
    assert (report.n_written, report.failed, report.n_waiting) == (2, {"empty": 2}, 4)
    assert report.halts == ("mistral: No credit. Buy more.",)
    assert len(lines(dest / "turns.jsonl")) == 16


def test_a_context_that_is_not_there_is_told_before_the_first_call(tmp_path: Path) -> None:
    archive = ArchiveBuilder()
    archive.add_session("S1", turns=range(1, 6), motion_id="M1")
    caller = FakeCaller(spoken)
    with pytest.raises(ArchiveError, match="lacks turn 6 of S1, which is to be continued at turn 8"):
        run_continuations(PACK, CONTINUATIONS, archive.write(tmp_path / "a"), AGENTS, caller, tmp_path / "decoding")
    assert caller.asked == []
