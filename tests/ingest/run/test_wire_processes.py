"""LiteLLM in its own processes does what it does in this one, and ends with it."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

import pytest

from ingest.run.agents import Agent
from ingest.run.call import CallRequest
from ingest.run.exchange import Sent
from ingest.run.wire import LiteLLMWire
from ingest.run.wire_processes import ProcessWire, WireProcessDied
from tests.ingest.run.conftest import MODELS, SECRET
from tests.ingest.run.provider_server import ProviderServer, Reply, error


def request(agent: Agent, text: str = "Speak.") -> CallRequest:
    return CallRequest(agent, ({"role": "user", "content": text},), "debate", response_schema={"type": "object"})


@pytest.fixture(scope="module")
def workers() -> Iterator[ProcessWire]:
    opened = ProcessWire(1)
    yield opened
    opened.close()


@pytest.mark.parametrize("provider", MODELS)
def test_an_exchange_is_the_same_as_in_this_process(
    provider: str, workers: ProcessWire, wire: LiteLLMWire, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    for reply in (None, error(429, {"error": {"message": "no"}}, retry_after="7"), Reply(drop=True)):
        both = []
        for way in (workers, wire):
            if reply is not None:
                server.replies[provider].append(reply)
            sent: list[Sent] = []
            both.append(asdict(way.send(request(agents[provider]), sent.append)) | {"latency_s": None, "given": sent})
        assert both[0] == both[1]


def test_nothing_leaves_when_it_cannot_be_recorded(
    workers: ProcessWire, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    def disk_full(_: Sent) -> None:
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        workers.send(request(agents["openai"]), disk_full)
    assert workers.send(request(agents["openai"], "Next."), lambda _: None).status == 200
    assert [seen.prompt for seen in server.seen] == ["Next."]


def test_calls_side_by_side_keep_their_own_answers(
    workers: ProcessWire, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    server.latency_s = 0.05
    texts = [f"Speech {number}" for number in range(24)]
    with ThreadPoolExecutor(12) as pool:
        exchanges = list(pool.map(lambda text: workers.send(request(agents["openai"], text), lambda _: None), texts))
    assert all(text.encode() in exchange.sent.body for text, exchange in zip(texts, exchanges, strict=True))
    assert server.most_in_flight["openai"] > 4


def test_no_key_is_on_a_command_line(workers: ProcessWire) -> None:
    for process in workers.process_ids:
        assert SECRET.encode() not in Path(f"/proc/{process}/cmdline").read_bytes()


def test_a_worker_that_dies_leaves_the_call_in_doubt_and_the_next_one_unsent(
    server: ProviderServer, agents: dict[str, Agent]
) -> None:
    server.latency_s = 1.0
    wire = ProcessWire(1)
    try:
        killer = threading.Timer(0, lambda: None)

        def kill_soon(_: Sent) -> None:
            nonlocal killer
            killer = threading.Timer(0.3, os.kill, (wire.process_ids[0], signal.SIGKILL))
            killer.start()

        exchange = wire.send(request(agents["openai"]), kill_soon)
        assert exchange.sent is not None and exchange.status is None
        assert exchange.error == "the process that runs LiteLLM ended"
        killer.join()
        with pytest.raises(WireProcessDied, match="Start the command again"):
            wire.send(request(agents["openai"]), lambda _: None)
    finally:
        wire.close()
    assert len(server.seen) == 1


def test_workers_end_with_the_process_that_started_them() -> None:
    program = """
from ingest.run.wire_processes import ProcessWire
wire = ProcessWire(1)
print(wire.process_ids[0], flush=True)
input()
"""
    parent = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    worker = int(parent.stdout.readline())
    assert Path(f"/proc/{worker}").exists()
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and _is_running(worker):
        time.sleep(0.05)
    assert not _is_running(worker)


def _is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
