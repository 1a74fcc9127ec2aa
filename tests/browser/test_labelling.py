"""Two people label at once in two browsers while the page's process is killed."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from dagster_project.lake import PROJECT_ROOT
from ingest.label import LabelStore

CLAIMS = [
    ("The tram is cheap for the city.", "A tram costs the city little.", "en"),
    ("电车对城市来说很便宜。", "城市为电车花费不多。", "zh"),
    ("الترام رخيص للمدينة.", "لا يكلف الترام المدينة كثيرا.", "ar"),
    ("<script>document.title = 'attacked'</script> **bold**", "A plain claim.", "en"),
    ("Buses are slow.", "Buses take long.", "en"),
]
LABELS = ("New", "Topically related", "Partial repetition or extension", "Substantive repetition", "Cannot judge")


@pytest.fixture
def audit(tmp_path: Path) -> Path:
    tasks = [
        {"data": {"task_id": f"t{number}", "earlier_claim": earlier, "later_claim": later, "language": language}}
        for number, (earlier, later, language) in enumerate(CLAIMS)
    ]
    (tmp_path / "pair_tasks.json").write_text(json.dumps(tasks), encoding="utf-8")
    return tmp_path


class Page:
    """The labelling page's server, on one port however often it is started."""

    def __init__(self, folder: Path, *options: str, **environment: str) -> None:
        with socket.socket() as probe:
            probe.bind(("localhost", 0))
            self.port = probe.getsockname()[1]
        self._command = [
            sys.executable,
            "-m",
            "dagster_project.cli",
            "label",
            str(folder),
            "--port",
            str(self.port),
            *options,
        ]
        self._environment = environment
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command,
            cwd=PROJECT_ROOT,
            env=os.environ | self._environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"http://localhost:{self.port}/_stcore/health", timeout=1):
                    return
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                time.sleep(0.1)
        pytest.fail("The labelling page did not start within 30 s.")

    def kill(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def url(self, annotator: str) -> str:
        return f"http://localhost:{self.port}/?annotator={annotator}"


@pytest.fixture
def people(browser):
    contexts = [browser.new_context(viewport={"width": 1300, "height": 900}) for _ in range(2)]
    yield [context.new_page() for context in contexts]
    for context in contexts:
        context.close()


def press(page, key: str, done: int) -> None:
    """Presses a key once the page shows that `done` tasks are done, and waits until one more is."""
    page.get_by_text(f"{done} of {len(CLAIMS)} done").wait_for(timeout=20_000)
    page.wait_for_timeout(300)
    page.locator("body").press(key)
    page.get_by_text(f"{done + 1} of {len(CLAIMS)} done").wait_for(timeout=20_000)


def test_two_people_label_at_once_and_a_killed_page_loses_nothing(people, audit: Path, tmp_path_factory) -> None:
    server = Page(audit)
    first, second = people
    try:
        first.goto(server.url("r1"))
        second.goto(server.url("r2"))
        press(first, "3", 0)
        press(second, "0", 0)
        press(first, "2", 1)
        first.get_by_text("Earlier claim").wait_for()
        arabic = first.locator(".rp-label").first
        assert arabic.get_attribute("lang") == "ar"
        assert arabic.evaluate("element => getComputedStyle(element).direction") == "rtl"
        assert "r2" not in first.locator("body").inner_text()
        first.screenshot(path=tmp_path_factory.mktemp("labelling") / "labelling.png", full_page=True)
        server.kill()
        kept = {(given.annotator, given.task_id): given.answer["label"][0] for given in LabelStore(audit).all()}
        assert kept == {("r1", "t0"): "3", ("r1", "t1"): "2", ("r2", "t0"): "0"}

        server.start()
        first.goto(server.url("r1"))
        press(first, "x", 2)
        first.get_by_role("button", name="Undo").click()
        first.get_by_text(f"2 of {len(CLAIMS)} done").wait_for()
        press(first, "1", 2)
        # A claim is text, whatever it looks like.
        first.get_by_text("<script>document.title").wait_for()
        assert first.title() != "attacked"
        first.get_by_role("textbox", name="Note").fill("Odd.")
        first.get_by_role("textbox", name="Note").press("Enter")
        first.get_by_role("button", name=LABELS[0]).click()
        first.get_by_text(f"4 of {len(CLAIMS)} done").wait_for()
    finally:
        server.kill()
    answers = LabelStore(audit).of("r1")
    assert answers["t2"].answer == {"label": "1 topically related"}
    assert answers["t3"].answer == {"label": "0 new", "note": "Odd."}


def test_disagreements_are_settled_once_all_are_done_and_behind_a_password(people, audit: Path) -> None:
    store = LabelStore(audit)
    for number in range(len(CLAIMS)):
        store.give(f"t{number}", "r1", {"label": "0 new"})
        if number:
            store.give(f"t{number}", "r2", {"label": "0 new" if number > 2 else "3 substantive repetition"})
    server = Page(audit, "--adjudicate", REPRISE_LABEL_PASSWORD="open-sesame")
    page = people[0]
    try:
        page.goto(server.url("boss"))
        page.get_by_label("Password", exact=True).fill("wrong")
        page.get_by_label("Password", exact=True).press("Enter")
        page.get_by_text("That is not the password").wait_for()
        assert page.get_by_text("Earlier claim").count() == 0
        page.get_by_label("Password", exact=True).fill("open-sesame")
        page.get_by_label("Password", exact=True).press("Enter")
        page.get_by_text("r2 has 1 left").wait_for()
        assert page.get_by_text("Earlier claim").count() == 0
        store.give("t0", "r2", {"label": "0 new"})
        page.goto(server.url("boss"))
        page.get_by_label("Password", exact=True).fill("open-sesame")
        page.get_by_label("Password", exact=True).press("Enter")
        page.get_by_text("0 of 2 done").wait_for()
        page.get_by_text("Labelled alone").wait_for()
        shown = page.get_by_test_id("stMain").inner_text()
        assert "3 substantive repetition" in shown
        assert "r1" not in shown
        page.wait_for_timeout(300)
        page.locator("body").press("3")
        page.get_by_text("1 of 2 done").wait_for()
    finally:
        server.kill()
    assert {task: given.answer["label"][0] for task, given in store.of("boss", 2).items()} == {"t1": "3"}
