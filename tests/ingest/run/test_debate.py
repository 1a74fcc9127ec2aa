import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from ingest.archive import Selection, build_snapshot, find_parts, read_part
from ingest.reference import turn_template
from ingest.run.agents import Agent
from ingest.run.archive import ArchiveInTheWay, write_archive
from ingest.run.caller import LedgerCaller
from ingest.run.debate import Debate, DebateError, DebateReport, hold_debates
from ingest.run.export import CALLS_SCHEMA, RUNS_SCHEMA, export_ledger
from ingest.run.ledger import Ledger
from tests.ingest.run.conftest import SECRET
from tests.ingest.run.provider_server import ProviderServer, Reply, answer, completion, error
from tests.ingest.run.studies import debaters, plan, render

Make = Callable[..., LedgerCaller]
Hold = Callable[..., DebateReport]


@pytest.fixture
def agents(server: ProviderServer) -> dict[str, Agent]:
    return debaters(server.port)


@pytest.fixture
def hold(ledger: Ledger, caller: Make, agents: dict[str, Agent]) -> Hold:
    """One run of planned debates with a caller of its own."""

    def run(planned: list, **settings: Any) -> DebateReport:
        asked = caller(**settings.pop("caller", {}))
        report = hold_debates(planned, settings.pop("agents", agents), render, ledger, asked, **settings)
        asked.close(report.closing_line("reprise generate"))
        return report

    return run


def archived(table: str, archive: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (archive / f"{table}.jsonl").read_text(encoding="utf-8").splitlines()]


def test_eight_turns_follow_the_template_and_each_hears_all_before_it_once(hold: Hold, server: ProviderServer) -> None:
    [session] = plan(2)[:1]
    [debate] = hold([session]).debates
    assert debate.status == "complete"
    assert [turn.template for turn in debate.turns] == list(turn_template())
    assert [turn.agent.name for turn in debate.turns] == [session.role_mapping[t.role] for t in turn_template()]
    texts = [turn.answer.text for turn in debate.turns]
    for index, seen in enumerate(server.seen):
        assert [seen.prompt.count(text) for text in texts] == [1] * index + [0] * (8 - index)


def test_a_turns_text_and_prompt_hash_are_those_of_the_exchange(hold: Hold, server: ProviderServer) -> None:
    from hashlib import sha256

    [debate] = hold(plan(2)[:1]).debates
    for turn, seen in zip(debate.turns, server.seen, strict=True):
        assert turn.answer.text in json.dumps(json.loads(answer(seen).body), ensure_ascii=False)
        assert turn.prompt_sha256 == sha256(seen.prompt.encode()).hexdigest()


def test_sessions_run_side_by_side_and_their_turns_one_after_the_other(hold: Hold, server: ProviderServer) -> None:
    server.latency_s = 0.03
    report = hold(plan(16))
    assert report.count("complete") == 16
    assert max(server.most_in_flight.values()) == 4
    assert sum(server.most_in_flight.values()) > 8


def test_a_partial_debate_goes_on_from_its_first_missing_turn(hold: Hold, server: ProviderServer) -> None:
    [session] = plan(2)[:1]
    third = server.replies[session.role_mapping["pro_1"]]
    third.extend([answer, Reply(body=completion("openai", "m", "Cut of", finish="length"))])
    [partial] = hold([session]).debates
    assert (partial.status, partial.code, len(partial.turns)) == ("partial", "truncated", 2)
    assert partial.reason == "Turn 3: The answer was cut off at the token limit."
    before = len(server.seen)
    [debate] = hold([session]).debates
    assert debate.status == "complete"
    assert debate.turns[:2] == partial.turns
    assert len(server.seen) - before == 6


def test_an_error_text_never_becomes_a_turn(hold: Hold, server: ProviderServer, tmp_path: Path, ledger: Ledger) -> None:
    [session] = plan(2)[:1]
    holder = session.role_mapping["pro_1"]
    server.replies[holder].append(Reply(body=b'{"error": {"message": "Insufficient credits", "code": 402}}'))
    report = hold([session])
    assert [debate.status for debate in report.debates] == ["failed"]
    archive = write_archive(tmp_path / "archive", report.debates, ledger, source="test")
    assert archived("turns", archive) == []
    assert archived("sessions", archive)[0]["status_code"] == "credit_exhausted"


def test_a_halt_stops_the_debates_that_need_the_provider_and_lets_the_others_finish(
    hold: Hold, server: ProviderServer
) -> None:
    needing, others = plan(4), plan(10, ("openai", "mistral"))[4:]
    server.replies["deepseek"].append(error(402, {"error": {"message": "Insufficient Balance"}}))
    report = hold(needing + others)
    assert [debate.status for debate in report.debates[4:]] == ["complete"] * 6
    assert {debate.code for debate in report.debates[:4]} <= {"credit_exhausted", "not_reached"}
    assert sum(seen.provider == "deepseek" for seen in server.seen) <= 4
    line = report.closing_line("reprise generate --study paper")
    assert "\n" not in line
    assert line.startswith("6 of 10 debates are complete, ")
    assert "deepseek: There is no credit left. deepseek says (402): Insufficient Balance" in line
    assert "Add credit to the account of provider deepseek." in line
    assert line.endswith("To go on: reprise generate --study paper")
    assert hold(needing + others).closing_line("x") == "10 of 10 debates are complete."


def test_a_model_build_that_changes_within_a_debate_flags_it(hold: Hold, server: ProviderServer) -> None:
    [session] = plan(2)[:1]
    holder = session.role_mapping["pro_1"]
    server.replies[holder].extend([answer, lambda seen: Reply(body=completion(holder, "gpt-6", "A newer speech."))])
    [debate] = hold([session]).debates
    assert (debate.status, debate.code, len(debate.turns)) == ("partial", "model_changed", 8)
    assert debate.reason == "openai spoke as gpt-5.5-2026-04-23 and as gpt-6."


def test_a_debate_is_begun_anew_when_asked_and_only_then(hold: Hold, server: ProviderServer) -> None:
    sessions = plan(4)
    holder = sessions[0].role_mapping["pro_1"]
    one = [sessions[0]]
    server.replies[holder].extend([answer, lambda seen: Reply(body=completion(holder, "gpt-6", "A newer speech."))])
    first = hold(one).debates[0]
    assert first.status == "partial"
    hold(sessions[1:])
    before = len(server.seen)
    assert hold(sessions).debates[0] == first
    assert len(server.seen) == before
    again = hold(sessions, restart_partial=True)
    assert len(server.seen) == before + 8
    assert again.count("complete") == 4
    assert again.debates[0].turns[0].answer.attempt_id != first.turns[0].answer.attempt_id


def test_a_run_that_is_interrupted_records_what_was_in_flight(
    hold: Hold, ledger: Ledger, server: ProviderServer
) -> None:
    server.latency_s = 0.1

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    # The first debate ends at once, since its first turn is refused.
    server.replies["openai"].append(error(400, {"error": {"message": "bad"}}))
    with pytest.raises(KeyboardInterrupt):
        hold(plan(12), progress=interrupt)
    with sqlite3.connect(ledger.path) as db:
        assert db.execute("select count(*) from attempts where outcome is null").fetchone() == (0,)
    server.latency_s = 0
    assert hold(plan(12)).count("complete") == 12


def test_progress_counts_the_debates_that_ended(hold: Hold) -> None:
    told: list[tuple[int, int]] = []
    hold(plan(6), progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (6, 6)
    assert told == sorted(told)


def test_a_plan_that_cannot_be_held_is_refused_before_a_call(
    hold: Hold, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    with pytest.raises(DebateError, match="twice"):
        hold([*plan(2), *plan(2)])
    del agents["mistral"]
    with pytest.raises(DebateError, match="needs mistral, which the agents file does not declare"):
        hold(plan(2), agents=agents)
    assert server.seen == []


def test_the_archive_is_read_without_a_special_case(
    hold: Hold, ledger: Ledger, server: ProviderServer, tmp_path: Path
) -> None:
    planned = plan(6)
    server.replies["mistral"].extend([answer] * 5 + [Reply(body=completion("mistral", "m", None))])
    report = hold(planned)
    assert (report.count("complete"), report.count("partial")) == (5, 1)
    write_archive(tmp_path / "archive", report.debates, ledger, source="test")
    read = tmp_path / "read"
    [part] = find_parts(tmp_path / "archive")
    part_report = read_part(part, read / part.name)
    assert {name: counts.rejected for name, counts in part_report.tables.items() if counts.rejected} == {}
    snapshot = tmp_path / "snapshot"
    build_snapshot([read / part.name], snapshot, Selection())
    sessions = {row["session_id"]: row for row in pq.read_table(snapshot / "sessions.parquet").to_pylist()}
    assert {session: row["status"] for session, row in sessions.items()} == {
        debate.planned.session_id: debate.status for debate in report.debates
    }
    incomplete = [row for row in pq.read_table(snapshot / "integrity.parquet").to_pylist()]
    [partial] = [debate for debate in report.debates if debate.status == "partial"]
    assert [(row["rule"], row["session_id"]) for row in incomplete] == [
        # Nobody has extracted anything yet.
        ("no_records", None),
        ("missing_turns", partial.planned.session_id),
    ]
    assert json.loads(sessions[partial.planned.session_id]["extra"])["status_code"] == "empty"


def test_the_archive_is_the_same_bytes_again_and_switches_in_one_step(
    hold: Hold, ledger: Ledger, tmp_path: Path
) -> None:
    dest = tmp_path / "archive"
    partial = hold(plan(6)[:3]).debates
    first = write_archive(dest, partial, ledger, source="test")
    assert write_archive(dest, hold(plan(6)[:3]).debates, ledger, source="test") == first
    assert dest.is_symlink() and dest.resolve() == first
    second = write_archive(dest, hold(plan(6)).debates, ledger, source="test")
    assert dest.resolve() == second
    assert [path.name for path in tmp_path.glob(".archive-*")] == [second.name]


def test_debates_that_wait_are_left_out_of_the_archive(hold: Hold, ledger: Ledger, tmp_path: Path) -> None:
    report = hold(plan(2))
    waiting = Debate(replace(plan(2)[0], session_id="later"), (), "waiting")
    archive = write_archive(tmp_path / "archive", [*report.debates, waiting], ledger, source="test")
    assert [row["session_id"] for row in archived("sessions", archive)] == [s.session_id for s in plan(2)]


def test_somebody_elses_folder_is_not_replaced(ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "turns.jsonl").write_text("mine")
    with pytest.raises(ArchiveInTheWay, match="was not written by a run"):
        write_archive(tmp_path / "archive", [], ledger, source="test")
    assert (tmp_path / "archive" / "turns.jsonl").read_text() == "mine"


def test_the_ledger_is_exported_while_it_is_in_use(
    hold: Hold, ledger: Ledger, server: ProviderServer, tmp_path: Path
) -> None:
    server.replies["mistral"].append(Reply(body=completion("mistral", "m", None)))
    server.replies["openai"].append(Reply(500, b"\xff broken"))
    hold(plan(4))
    n_calls, n_runs = export_ledger(ledger.path, tmp_path / "out")
    calls, runs = pq.read_table(tmp_path / "out" / "calls.parquet"), pq.read_table(tmp_path / "out" / "runs.parquet")
    assert (calls.schema, runs.schema) == (CALLS_SCHEMA, RUNS_SCHEMA)
    assert (calls.num_rows, runs.num_rows) == (n_calls, n_runs) == (len(server.seen), 1)
    rows = calls.to_pylist()
    assert [row["failed_response"] for row in rows if row["code"] == "provider_error"] == ["\ufffd broken"]
    assert [row["failed_response"] is None for row in rows] == [row["outcome"] == "answered" for row in rows]
    assert {row["cost_usd"] is None for row in rows if row["outcome"] == "answered"} == {False}
    assert runs.to_pylist()[0]["ending"].startswith("3 of 4 debates are complete")


def test_an_empty_ledger_exports_empty_tables(ledger: Ledger, tmp_path: Path) -> None:
    assert export_ledger(ledger.path, tmp_path / "out") == (0, 0)
    assert pq.read_table(tmp_path / "out" / "calls.parquet").schema == CALLS_SCHEMA


def test_no_key_reaches_a_file_a_log_or_a_message(
    hold: Hold,
    ledger: Ledger,
    server: ProviderServer,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    echo = json.dumps({"error": {"message": f"Incorrect API key provided: {SECRET}"}}).encode()
    server.replies["deepseek"].append(Reply(401, echo, {"x-echo": SECRET, "set-cookie": "session=1"}))
    server.replies["mistral"].append(Reply(500, echo))
    server.replies["anthropic"].append(Reply(400, echo))
    server.replies["openai"].append(lambda seen: Reply(body=completion("openai", "m", f"My key is {SECRET}.")))
    report = hold(plan(8))
    write_archive(tmp_path / "archive", report.debates, ledger, source="test")
    export_ledger(ledger.path, tmp_path / "out")
    assert any(SECRET in seen.headers.get("authorization", "") for seen in server.seen)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} >= {".sqlite", ".jsonl", ".parquet"}
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []
    for name in ("calls", "runs"):
        assert SECRET not in str(pq.read_table(tmp_path / "out" / f"{name}.parquet").to_pylist())
    said = capfd.readouterr()
    assert SECRET not in said.out + said.err + caplog.text + report.closing_line("x") + repr(report)
