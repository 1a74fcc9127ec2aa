"""A study that is killed at random moments and goes on.

`python -m tests.ingest.run.test_kill` kills 50 times, or as often as its argument says; with `--workers`, LiteLLM
runs in processes of its own (minutes).
"""

import faulthandler
import json
import multiprocessing
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from hashlib import sha256
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from ingest.run.archive import write_archive
from ingest.run.ledger import Ledger
from tests.ingest.run.provider_server import ProviderServer
from tests.ingest.run.studies import DEBATERS, hold, in_ledger

CLOCKS = {"created_at", "started_at", "finished_at"}
IN_FLIGHT = 4 * len(DEBATERS)
SECONDS_PER_RUN = 120


def _content(ledger: Path, dest: Path, n_sessions: int, port: int) -> dict[str, list[dict[str, Any]]]:
    """The archive of a ledger, without what a clock says."""
    with Ledger(ledger) as opened:
        archive = write_archive(dest, in_ledger(opened, n_sessions, port), opened, source="test")
    return {
        file.name: [
            {name: value for name, value in json.loads(line).items() if name not in CLOCKS}
            for line in file.read_text(encoding="utf-8").splitlines()
        ]
        for file in sorted(archive.iterdir())
    }


def _hold(*arguments: Any) -> None:
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    hold(*arguments)


def _join(run: BaseProcess) -> None:
    """Waits for a run, which ends well or by a kill; one that stands still shows where, and fails the test."""
    run.join(SECONDS_PER_RUN)
    if run.is_alive():
        os.kill(run.pid, signal.SIGUSR1)
        run.join(1)
        run.kill()
        pytest.fail(f"A run stood still for {SECONDS_PER_RUN} s; its threads are above.")
    assert run.exitcode in (0, -signal.SIGKILL)


def _answered(ledger: Path) -> int:
    if not ledger.exists():
        return 0
    with sqlite3.connect(f"{ledger.as_uri()}?mode=ro", uri=True) as db:
        try:
            return db.execute("select count(*) from attempts where outcome = 'answered'").fetchone()[0]
        except sqlite3.OperationalError:
            return 0


def _outcomes(ledger: Path) -> list[tuple[Any, ...]]:
    with sqlite3.connect(ledger) as db:
        return db.execute("select outcome, code, reason, count(*) from attempts group by 1, 2, 3").fetchall()


def killed_and_resumed(
    directory: Path, kills: int, n_sessions: int, seed: int, workers: bool = False
) -> dict[str, int]:
    """Kills a study so often, resumes it, checks what it left, and counts."""
    # One process imports LiteLLM; the runs are forked from it and die alone.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["ingest.run.wire", "tests.ingest.run.studies"])
    rng = random.Random(seed)
    ledger, calls = directory / "killed.sqlite", n_sessions * 8
    with ProviderServer(latency_s=0.03) as server:
        done_kills = 0
        while _answered(ledger) < calls:
            run = context.Process(target=_hold, args=(ledger, n_sessions, server.port, workers))
            before = _answered(ledger)
            run.start()
            if done_kills < kills:
                # The rest is shared out over the kills that are left, so that each finds a run in its middle.
                share = (calls - before) / (kills - done_kills + 1)
                target = before + rng.uniform(0, 1.5 * share)
                while run.is_alive() and _answered(ledger) < target:
                    time.sleep(0.002)
                time.sleep(rng.uniform(0, 0.03))
                if run.is_alive():
                    run.kill()
                    done_kills += 1
            _join(run)
            if run.exitcode == 0:
                assert _answered(ledger) == calls, f"A run ended early: {_outcomes(ledger)}"
        seen = Counter(sha256(request.body).hexdigest() for request in server.seen)

    with sqlite3.connect(ledger) as db:
        rows = db.execute("select key, outcome, request_sha256, may_be_paid, cost from attempts").fetchall()
    answers = Counter(key for key, outcome, *_ in rows if outcome == "answered")
    interrupted = [row for row in rows if row[1] == "interrupted"]
    sent = Counter(request for _, _, request, *_ in rows)
    assert set(answers.values()) == {1}
    assert len(answers) == calls
    assert {outcome for _, outcome, *_ in rows} <= {"answered", "interrupted"}
    assert len(interrupted) <= done_kills * IN_FLIGHT
    assert all(may_be_paid and cost is None for *_, may_be_paid, cost in interrupted)
    # The provider saw nothing that is not in the ledger.
    assert all(count <= sent[request] for request, count in seen.items())

    undisturbed = directory / "undisturbed.sqlite"
    with ProviderServer(port=server.port) as again:
        run = context.Process(target=_hold, args=(undisturbed, n_sessions, again.port, workers))
        run.start()
        _join(run)
    killed, whole = (_content(file, file.with_suffix(""), n_sessions, server.port) for file in (ledger, undisturbed))
    assert killed == whole
    assert [len(whole["sessions.jsonl"]), len(whole["turns.jsonl"])] == [n_sessions, calls]
    return {
        "kills": done_kills,
        "calls": calls,
        "requests the provider saw": sum(seen.values()),
        "paid twice": sum(seen.values()) - len(seen),
        "interrupted rows": len(interrupted),
    }


def test_a_run_that_is_killed_and_resumed_leaves_what_an_undisturbed_one_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANTED_KEY", "sk-planted")
    counts = killed_and_resumed(tmp_path, kills=4, n_sessions=10, seed=1)
    assert counts["kills"] == 4
    assert counts["paid twice"] <= counts["interrupted rows"]


if __name__ == "__main__":
    kills = next((int(argument) for argument in sys.argv[1:] if argument.isdigit()), 50)
    with tempfile.TemporaryDirectory() as place:
        print(killed_and_resumed(Path(place), kills, 2 * kills + 20, seed=0, workers="--workers" in sys.argv))
