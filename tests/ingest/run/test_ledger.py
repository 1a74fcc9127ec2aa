import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import pytest

from ingest.run.agents import Agent, Provider
from ingest.run.call import CallRequest, Usage
from ingest.run.exchange import Sent
from ingest.run.ledger import Completion, Ledger, LedgerError, Spending, read_ledger

AGENT = Agent("a", "openai/m", Provider("openai"))
SENT = Sent("https://example.org", b'{"model": "m"}')


def request(text: str = "Speak.", session_id: str = "s", turn_index: int = 1) -> CallRequest:
    subject = {"session_id": session_id, "turn_index": turn_index}
    return CallRequest(AGENT, ({"role": "user", "content": text},), "debate", subject=subject)


def answered(text: str = "A speech.", **changes: object) -> Completion:
    return Completion(**({"outcome": "answered", "may_be_paid": True, "text": text, "body": b"{}"} | changes))


def attempt(ledger: Ledger, completion: Completion | None, of: CallRequest, worst: str | None = None) -> int:
    run = ledger.begin_run("test")
    number = ledger.begin(run, of, 1, SENT, None if worst is None else Decimal(worst))
    if completion is not None:
        ledger.complete(number, completion)
    return number


def rows(path: Path, query: str) -> list[tuple]:
    with sqlite3.connect(path) as db:
        return db.execute(query).fetchall()


def test_an_attempt_is_on_disk_before_its_request_leaves_and_before_its_answer_is_used(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    with Ledger(path) as ledger:
        run = ledger.begin_run("test")
        number = ledger.begin(run, request(), 1, SENT, None)
        assert rows(path, "select outcome, body from attempts join bodies on sha256 = request_sha256") == [
            (None, SENT.body)
        ]
        ledger.complete(number, answered())
        assert rows(path, "select outcome, text from attempts") == [("answered", "A speech.")]


def test_it_is_written_ahead_and_flushed_to_the_disk(ledger: Ledger) -> None:
    assert ledger._writer.execute("pragma journal_mode").fetchone() == ("wal",)
    assert ledger._writer.execute("pragma synchronous").fetchone() == (2,)


def test_an_answer_comes_back_as_it_was(ledger: Ledger) -> None:
    usage = Usage(10, 5, 2, None, 1)
    made = answered(
        "Текст.\n", finish_reason="stop", model_reported="m-1", usage=usage, cost=Decimal("0.0000125"), status=200
    )
    number = attempt(ledger, made, request())
    found = ledger.answer(request().key)
    assert found is not None
    assert (found.text, found.finish_reason, found.model_reported) == ("Текст.\n", "stop", "m-1")
    assert (found.usage, found.cost, found.attempt_id) == (usage, Decimal("0.0000125"), number)
    assert ledger.answer(request("Other.").key) is None


def test_a_body_is_stored_once(ledger: Ledger) -> None:
    for text in ("one", "two"):
        attempt(ledger, answered(body=b"the same"), request(text))
    assert rows(ledger.path, "select count(*) from bodies where body = cast('the same' as blob)") == [(1,)]


def test_a_key_cannot_be_answered_twice(ledger: Ledger) -> None:
    attempt(ledger, answered(), request())
    with pytest.raises(LedgerError, match="UNIQUE"):
        attempt(ledger, answered("Another."), request())
    assert ledger.answer(request().key).text == "A speech."


def test_one_command_that_fails_takes_no_other_with_it(ledger: Ledger) -> None:
    attempt(ledger, answered(), request("taken"))
    run = ledger.begin_run("test")
    numbers = {text: ledger.begin(run, request(text), 1, SENT, None) for text in ["taken", *map(str, range(30))]}
    barrier = threading.Barrier(len(numbers))

    def complete(text: str) -> bool:
        barrier.wait()
        try:
            ledger.complete(numbers[text], answered(text))
        except LedgerError:
            return False
        return True

    with ThreadPoolExecutor(len(numbers)) as pool:
        done = dict(zip(numbers, pool.map(complete, numbers), strict=True))
    assert [text for text, well in done.items() if not well] == ["taken"]
    assert all(ledger.answer(request(str(number)).key) is not None for number in range(30))


def test_what_a_killed_run_left_in_flight_is_marked_and_counts_at_its_worst(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    program = f"""
import os, signal
from decimal import Decimal
from pathlib import Path
from ingest.run.ledger import Ledger
from tests.ingest.run.test_ledger import SENT, request
ledger = Ledger(Path({str(path)!r}))
ledger.begin(ledger.begin_run("killed"), request(), 1, SENT, Decimal("0.25"))
os.kill(os.getpid(), signal.SIGKILL)
"""
    root = Path(__file__).parents[3]
    assert subprocess.run([sys.executable, "-c", program], cwd=root, check=False).returncode == -9
    with Ledger(path) as ledger:
        assert rows(path, "select outcome, cost, may_be_paid from attempts") == [("interrupted", None, 1)]
        assert rows(path, "select ending from runs") == [("interrupted",)]
        assert ledger.answer(request().key) is None
        assert ledger.spending() == Spending(known=Decimal(0), at_most=Decimal("0.25"), unbounded=0)


def test_spending_tells_known_from_possible_and_never_counts_the_unknown_as_nothing(ledger: Ledger) -> None:
    attempt(ledger, answered(cost=Decimal("0.1")), request("1"), "1")
    attempt(ledger, answered(), request("2"), "2")
    attempt(ledger, answered(), request("3"))
    attempt(ledger, Completion("transient", may_be_paid=False), request("4"), "4")
    attempt(ledger, None, request("5"), "8")
    assert ledger.spending() == Spending(known=Decimal("0.1"), at_most=Decimal(10), unbounded=1)


def test_a_second_run_is_refused_while_the_first_lasts(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    with Ledger(path), pytest.raises(LedgerError, match="in use by another run"):
        Ledger(path)
    Ledger(path).close()


def test_readers_see_a_run_that_is_going_on(ledger: Ledger) -> None:
    reader = read_ledger(ledger.path)
    attempt(ledger, None, request())
    assert reader.execute("select count(*) from attempts").fetchone() == (1,)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.execute("delete from attempts")
    reader.close()


def test_a_session_is_begun_anew_without_losing_what_it_had(ledger: Ledger) -> None:
    attempt(ledger, answered("Mine."), request("mine", "s"))
    attempt(ledger, answered("Other."), request("other", "t"))
    assert ledger.set_aside("s", "restarted") == 1
    assert ledger.answer(request("mine", "s").key) is None
    assert ledger.answer(request("other", "t").key) is not None
    attempt(ledger, answered("Anew."), request("mine", "s"))
    assert rows(ledger.path, "select outcome, text from attempts where session_id = 's' order by attempt_id") == [
        ("set_aside", "Mine."),
        ("answered", "Anew."),
    ]


def test_a_file_that_is_no_ledger_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, and long enough to be told from one" * 50)
    with pytest.raises(LedgerError, match=r"notes\.txt"):
        Ledger(path)
    with pytest.raises(LedgerError, match="does not exist"):
        read_ledger(tmp_path / "absent.sqlite")
