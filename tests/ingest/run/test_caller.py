"""One call through real LiteLLM: recorded, tried again or not, counted, and never made twice."""

import json
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ingest.run.agents import Agent, PriceOverride
from ingest.run.call import Answer, BudgetReached, CallRequest, ItemFailed, ProviderHalted, RunStopped
from ingest.run.caller import LedgerCaller, RetryPolicy
from ingest.run.ledger import Ledger
from tests.ingest.run.provider_server import ProviderServer, Reply, completion, error

Make = Callable[..., LedgerCaller]


def request(agent: Agent, text: str = "Speak.", **settings: Any) -> CallRequest:
    return CallRequest(agent, ({"role": "user", "content": text},), "debate", **settings)


def attempts(ledger: Ledger, columns: str = "outcome, code") -> list[tuple]:
    with sqlite3.connect(ledger.path) as db:
        return db.execute(f"select {columns} from attempts order by attempt_id").fetchall()


def test_an_answer_is_asked_for_once_in_all_runs(
    caller: Make, ledger: Ledger, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    first, again = caller().call(request(agents["openai"])), caller().call(request(agents["openai"]))
    assert again == first
    assert len(server.seen) == 1
    assert attempts(ledger, "outcome, model_reported") == [("answered", "gpt-5.5-2026-04-23")]


def test_many_who_ask_the_same_at_once_share_one_call(
    caller: Make, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    server.latency_s = 0.1
    asked = caller()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: asked.call(request(agents["openai"])), range(8)))
    assert len({answer.attempt_id for answer in answers}) == 1
    assert len(server.seen) == 1


def test_a_repeat_is_another_call(caller: Make, server: ProviderServer, agents: dict[str, Agent]) -> None:
    asked = caller()
    asked.call(request(agents["openai"]))
    asked.call(request(agents["openai"], repeat=2))
    assert len(server.seen) == 2


def test_every_attempt_is_a_row(caller: Make, ledger: Ledger, server: ProviderServer, agents: dict[str, Agent]) -> None:
    server.replies["openai"].extend([error(503, {"error": {"message": "later"}}), Reply(drop=True)])
    answer = caller().call(request(agents["openai"]))
    assert attempts(ledger, "try, outcome, code, status, may_be_paid") == [
        (1, "transient", "provider_error", 503, 1),
        (2, "transient", "connection", None, 1),
        (3, "answered", None, 200, 1),
    ]
    assert answer.attempt_id == 3


def test_a_fault_that_stays_fails_the_item_after_the_last_attempt(
    caller: Make, ledger: Ledger, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    server.replies["openai"].extend([error(503, {"error": {"message": "later"}})] * 3)
    with pytest.raises(ItemFailed, match="tried 3 times") as raised:
        caller().call(request(agents["openai"]))
    assert raised.value.kind == "retries_exhausted"
    assert len(attempts(ledger)) == len(server.seen) == 3


@pytest.mark.parametrize(
    "headers",
    [
        {"retry-after": "0.4"},
        {"retry-after-ms": "400"},
        {"date": "Fri, 01 May 2026 13:00:00 GMT", "retry-after": "Fri, 01 May 2026 13:00:01 GMT"},
    ],
)
def test_a_pause_is_kept_by_all_calls_to_its_provider_and_by_no_other(
    headers: dict[str, str], caller: Make, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    server.replies["openai"].append(Reply(429, b'{"error": {"message": "slow down"}}', headers))
    asked = caller()
    with ThreadPoolExecutor(3) as pool:
        refused = pool.submit(asked.call, request(agents["openai"]))
        while not server.seen:
            time.sleep(0.01)
        time.sleep(0.05)
        others = [pool.submit(asked.call, request(agents[name], "Other.")) for name in ("openai", "mistral")]
        for future in (refused, *others):
            future.result()
    began = server.seen[0].at
    pauses = {seen.provider: seen.at - began for seen in server.seen[1:]}
    assert min(seen.at - began for seen in server.seen[1:] if seen.provider == "openai") >= 0.4
    assert pauses["mistral"] < 0.4


def test_a_hopeless_item_is_asked_for_once_and_leaves_others_alone(
    caller: Make, ledger: Ledger, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    server.replies["openai"].append(Reply(body=completion("openai", "m", None, message={"reasoning_content": "Hm."})))
    asked = caller()
    with pytest.raises(ItemFailed) as raised:
        asked.call(request(agents["openai"]))
    assert raised.value.kind == "empty"
    assert asked.call(request(agents["openai"], "Next.")).text
    assert attempts(ledger, "outcome, code, text is null, input_tokens") == [
        ("item_failed", "empty", 1, 120),
        ("answered", None, 0, 120),
    ]


def test_a_halted_provider_is_asked_nothing_more_and_the_others_go_on(
    caller: Make, ledger: Ledger, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    server.replies["openrouter"].append(Reply(body=b'{"error": {"code": 402, "message": "Insufficient credits"}}'))
    asked = caller()
    for _ in range(2):
        with pytest.raises(ProviderHalted, match="no credit left") as raised:
            asked.call(request(agents["openrouter"]))
    assert raised.value.remedy == "Add credit to the account of provider openrouter"
    assert asked.call(request(agents["mistral"])).text
    assert attempts(ledger) == [("halted", "credit_exhausted"), ("answered", None)]
    assert [halt.provider for halt in asked.halts] == ["openrouter"]


def test_a_model_that_is_unknown_halts_itself_and_not_its_provider(
    caller: Make, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    server.replies["openai"].append(error(404, {"error": {"message": "The model `x` does not exist"}}))
    asked = caller()
    with pytest.raises(ProviderHalted, match="Correct the model string openai/x"):
        asked.call(request(replace(agents["openai"], model="openai/x")))
    assert asked.call(request(agents["openai"])).text


def test_a_missing_key_is_said_before_anything_is_sent(
    caller: Make, server: ProviderServer, agents: dict[str, Agent], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PLANTED_KEY")
    with pytest.raises(ProviderHalted, match=r"PLANTED_KEY is not set\. Set PLANTED_KEY"):
        caller().call(request(agents["openai"]))
    assert server.seen == []


def test_an_outage_halts_the_provider_instead_of_failing_the_study_item_by_item(
    caller: Make, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    server.replies["openai"].extend([error(503, {"error": {"message": "down"}})] * 99)
    asked = caller(retry=RetryPolicy(attempts=1, first_wait_s=0, hopeless_in_a_row=3))
    problems = [problem for _, problem in asked.call_all(request(agents["openai"], str(n)) for n in range(40))]
    assert {type(problem) for problem in problems} == {ItemFailed, ProviderHalted}
    assert "3 calls in a row failed" in str(asked.halts[0])
    # Those in flight when it halts are the last.
    assert len(server.seen) <= 3 + agents["openai"].provider.max_in_flight


def test_calls_of_a_batch_come_back_with_their_requests_whatever_their_order(
    caller: Make, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    requests = [request(agents[name], f"{name} {number}") for name in ("openai", "mistral") for number in range(20)]
    server.replies["mistral"].append(error(400, {"error": {"message": "bad"}}))
    told: list[tuple[int, int]] = []
    outcomes = {r.key: o for r, o in caller().call_all(requests, lambda done, total: told.append((done, total)))}
    assert outcomes.keys() == {r.key for r in requests}
    assert all(o.key == key for key, o in outcomes.items() if isinstance(o, Answer))
    assert sum(isinstance(o, ItemFailed) for o in outcomes.values()) == 1
    assert told == [(number + 1, 40) for number in range(40)]
    assert server.most_in_flight["openai"] <= agents["openai"].provider.max_in_flight


def test_costs_come_from_the_table_or_the_agent_and_are_unknown_otherwise(
    caller: Make, ledger: Ledger, agents: dict[str, Agent]
) -> None:
    own = replace(agents["openai"], price=PriceOverride(Decimal(10), Decimal(100)))
    asked = caller()
    costs = [asked.call(request(agent)).cost for agent in (own, agents["deepseek"], agents["hosted_vllm"])]
    assert costs == [Decimal("0.0062"), Decimal("0.00004956"), None]
    assert attempts(ledger, "cost") == [("0.0062",), ("0.00004956",), (None,)]


def test_a_spending_cap_holds_over_runs_and_stops_before_the_call(
    caller: Make, ledger: Ledger, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    # A call costs 0.0062 and at worst about 0.02.
    agent = replace(agents["openai"], price=PriceOverride(Decimal(10), Decimal(100)))
    outcomes = [o for _, o in caller(spending_cap=Decimal("0.06")).call_all(request(agent, str(n)) for n in range(20))]
    made = len(server.seen)
    assert 5 <= made <= 8
    assert sum(isinstance(outcome, Answer) for outcome in outcomes) == made
    assert sum(isinstance(outcome, BudgetReached) for outcome in outcomes) == 20 - made
    assert ledger.spending().known <= Decimal("0.06")
    with pytest.raises(BudgetReached, match=r"cap of 0\.06 USD is reached"):
        caller(spending_cap=Decimal("0.06")).call(request(agent, "another"))
    assert caller(spending_cap=Decimal("0.10")).call(request(agent, "another")).text


def test_stopping_finishes_what_is_in_flight_and_makes_no_further_call(
    caller: Make, ledger: Ledger, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    server.latency_s = 0.2
    agent = replace(agents["openai"], provider=replace(agents["openai"].provider, max_in_flight=2))
    asked = caller()
    with ThreadPoolExecutor(6) as pool:
        futures = [pool.submit(asked.call, request(agent, str(number))) for number in range(6)]
        while len(server.seen) < 2:
            time.sleep(0.005)
        asked.stop()
    assert sum(isinstance(future.exception(), RunStopped) for future in futures) == 4
    assert attempts(ledger) == [("answered", None)] * 2


def test_a_run_has_its_row(caller: Make, ledger: Ledger, agents: dict[str, Agent]) -> None:
    asked = caller(study="paper", spending_cap=Decimal(5))
    asked.call(request(agents["openai"]))
    asked.close("finished")
    with sqlite3.connect(ledger.path) as db:
        [row] = db.execute("select study, purpose, ending, spending_cap, litellm_version from runs").fetchall()
    assert row[:4] == ("paper", "test", "finished", "5")
    assert row[4].startswith("1.")


def test_everything_loads_without_litellm_and_a_call_says_how_to_install_it(tmp_path: Path) -> None:
    program = f"""
import sys
sys.modules["litellm"] = sys.modules["httpx"] = None
from pathlib import Path
from ingest.run import archive, debate, export
from ingest.run.call import CallRequest
from ingest.run.caller import LedgerCaller, LiteLLMMissing
from ingest.run.agents import Agent, Provider
from ingest.run.ledger import Ledger
with Ledger(Path({str(tmp_path / "l.sqlite")!r})) as ledger:
    try:
        agent = Agent("a", "openai/m", Provider("p"))
        LedgerCaller(ledger, "test").call(CallRequest(agent, ({{"role": "user", "content": "x"}},), "debate"))
    except LiteLLMMissing as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.endswith(".venv/bin/pip install -c requirements.lock -e '.[generate]'\n")


def test_a_caller_that_makes_no_call_leaves_no_row(ledger: Ledger) -> None:
    LedgerCaller(ledger, "test").close()
    with sqlite3.connect(ledger.path) as db:
        assert db.execute("select count(*) from runs").fetchone() == (0,)


def test_the_rows_hold_the_exchange(
    caller: Make, ledger: Ledger, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    server.replies["openai"].append(
        Reply(
            body=completion("openai", "m", "A speech."),
            headers={"x-request-id": "r1", "x-ratelimit-remaining-tokens": "9"},
        )
    )
    caller().call(request(agents["openai"], subject={"session_id": "s", "turn_index": 3, "role": "pro_1"}))
    with sqlite3.connect(ledger.path) as db:
        [row] = db.execute(
            "select sent.body, came.body, headers, session_id, turn_index, subject,"
            " started_at < finished_at, latency_s > 0"
            " from attempts join bodies sent on sent.sha256 = request_sha256"
            " join bodies came on came.sha256 = response_sha256"
        ).fetchall()
    assert row[0] == server.seen[0].body
    assert row[1] == completion("openai", "m", "A speech.")
    assert {"x-request-id": "r1", "x-ratelimit-remaining-tokens": "9"}.items() <= json.loads(row[2]).items()
    assert row[3:] == ("s", 3, '{"role": "pro_1", "session_id": "s", "turn_index": 3}', 1, 1)


def test_threads_that_wait_for_one_call_all_get_its_failure(
    caller: Make, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    server.replies["openai"].append(Reply(400, b'{"error": {"message": "bad"}}', delay_s=0.1))
    asked, start = caller(), threading.Barrier(4)

    def call(_: int) -> str:
        start.wait()
        try:
            return asked.call(request(agents["openai"])).text
        except ItemFailed as problem:
            return problem.kind

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(call, range(4))) == ["bad_request"] * 4


@pytest.mark.parametrize(
    ("sent", "text", "finish"),
    [
        ({"text": '{"arguments": [', "finish": "length"}, '{"arguments": [', "length"),
        ({"text": None}, "", "stop"),
    ],
)
def test_an_answer_that_is_parsed_may_be_cut_off_or_empty_and_is_asked_for_once(
    caller: Make, server: ProviderServer, agents: dict[str, Agent], sent: dict[str, Any], text: str, finish: str
) -> None:
    server.replies["openai"].append(Reply(body=completion("openai", "gpt-5.5", **sent)))
    parsed = replace(request(agents["openai"]), stage="extraction", is_parsed=True)
    answer = caller().call(parsed)
    assert (answer.text, answer.finish_reason) == (text, finish)
    assert caller().call(parsed) == answer
    assert len(server.seen) == 1
