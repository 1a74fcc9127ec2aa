"""Times a study's debates against a provider on the loopback whose answers take 200 ms, through real LiteLLM.

Run from the project root: ``python -m benchmarks.run_layer [SESSIONS]``. Prints a Markdown table; all figures are from
one run. CPU and memory are those of this process and of the workers that run LiteLLM, not the provider's. Linux only.
"""

import argparse
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ingest.run.agents import Agent, Provider
from ingest.run.caller import LedgerCaller
from ingest.run.debate import hold_debates
from ingest.run.ledger import Ledger
from ingest.run.planned import PlannedSession
from ingest.run.prompts import load_pack, render_turn
from ingest.run.wire_processes import ProcessWire

SESSIONS, TURNS, LATENCY_S, IN_FLIGHT = 426, 8, 0.2, 64
MODELS = {
    "openai": "openai/gpt-5.5",
    "anthropic": "anthropic/claude-opus-4-7",
    "deepseek": "deepseek/deepseek-chat",
    "mistral": "mistral/mistral-large-latest",
}
ROLES = ("pro_1", "con_1", "pro_2", "con_2")


def plan(n_sessions: int) -> list[PlannedSession]:
    """Debates whose seats rotate over the agents, as a study's do."""
    names = list(MODELS)
    return [
        PlannedSession(
            session_id=f"M{number:03d}-en-baseline-r1",
            motion_id=f"M{number:03d}",
            motion_text=f"This house would take measure number {number}.",
            language="en",
            condition="baseline",
            repeat=1,
            role_mapping={role: names[(number + seat) % 4] for seat, role in enumerate(ROLES)},
        )
        for number in range(n_sessions)
    ]


def ideal_s(n_sessions: int) -> float:
    """All places taken from the first moment to the last, and a debate's turns one after the other."""
    return max(TURNS, math.ceil(n_sessions * TURNS / IN_FLIGHT)) * LATENCY_S


def cpu_s(processes: list[int]) -> float:
    """User and system time that processes have taken so far."""
    ticks = 0
    for process in processes:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def peak_mb(processes: list[int]) -> float:
    """The most memory that processes held, added up."""
    status = [Path(f"/proc/{process}/status").read_text() for process in processes]
    return sum(int(text.split("VmHWM:")[1].split()[0]) for text in status) / 1024


def measure(n_sessions: int, port: int, wire: ProcessWire, ledger: Path) -> tuple[float, float]:
    """Wall and CPU seconds of `n_sessions` debates."""
    pack = load_pack()
    agents = {
        name: Agent(
            name,
            model,
            Provider(name, f"http://127.0.0.1:{port}/{name}{'' if name == 'anthropic' else '/v1'}", max_in_flight=16),
            {"max_tokens": 1024},
        )
        for name, model in MODELS.items()
    }
    with Ledger(ledger) as opened:
        caller = LedgerCaller(opened, "benchmark", wire=wire)
        processes = [os.getpid(), *wire.process_ids]
        wall, cpu = time.perf_counter(), cpu_s(processes)
        report = hold_debates(
            plan(n_sessions), agents, lambda planned, turn, said: render_turn(pack, planned, turn, said), opened, caller
        )
        wall, cpu = time.perf_counter() - wall, cpu_s(processes) - cpu
    assert report.count("complete") == n_sessions, report.closing_line("")
    return wall, cpu


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("sessions", nargs="?", type=int, default=SESSIONS)
    n_sessions = parser.parse_args().sessions
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.ingest.run.provider_server", "--latency", str(LATENCY_S)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    port = int(server.stdout.readline())
    try:
        with tempfile.TemporaryDirectory() as directory:
            wire = ProcessWire(os.cpu_count() or 1)
            processes = [os.getpid(), *wire.process_ids]
            measure(IN_FLIGHT, port, wire, Path(directory) / "warm.sqlite")
            before = peak_mb(processes)
            wall, cpu = measure(n_sessions, port, wire, Path(directory) / "ledger.sqlite")
            after = peak_mb(processes)
            wire.close()
    finally:
        server.kill()
    calls = n_sessions * TURNS
    print(
        f"{n_sessions} debates × {TURNS} turns, {IN_FLIGHT} in flight over {len(MODELS)} providers, answers after "
        f"{LATENCY_S * 1000:.0f} ms; {platform.machine()}, {os.cpu_count()} cores, LiteLLM {wire.version}.\n"
    )
    print("| | |\n|---|---:|")
    print(f"| wall | {wall:.1f} s |")
    print(f"| ideal schedule | {ideal_s(n_sessions):.1f} s |")
    print(f"| wall / ideal | {wall / ideal_s(n_sessions):.2f} |")
    print(f"| CPU a call | {cpu / calls * 1000:.1f} ms |")
    print(f"| peak memory, after {IN_FLIGHT} debates and after all | {before:.0f} MB, {after:.0f} MB |")


if __name__ == "__main__":
    main()
