"""The Dagster UI in a real browser: the graph is there, and its one button builds and publishes the study."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.conftest import ROOT, Workplace, small_archive, workplace

START_SECONDS = 120
RUN_SECONDS = 600
GROUPS = ["study", "archive", "vectors", "staging", "intermediate", "marts", "estimates", "reports", "publish"]


def answer(url: str, query: str) -> dict:
    request = urllib.request.Request(
        f"{url}/graphql", json.dumps({"query": query}).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)["data"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    place = workplace(tmp_path_factory.mktemp("ui"))
    small_archive(place.archive, motions=["S01"])
    return place


@pytest.fixture(scope="module")
def ui(place: Workplace) -> Iterator[str]:
    """The address of a `dagster dev` on a small study, started as `make ui` starts it."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = probe.getsockname()[1]
    place.must_run("read")
    log = (place.folder / "ui.log").open("wb")
    process = subprocess.Popen(
        [Path(sys.executable).with_name("dagster"), "dev", "--port", str(port)],
        cwd=ROOT,
        env=os.environ
        | {
            "DAGSTER_HOME": str(place.folder / "dagster_home"),
            "REPRISE_STUDY": place.study,
            "REPRISE_LAKE": str(place.lake),
        },
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    url = f"http://localhost:{port}"
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if answer(url, "{ repositoriesOrError { __typename } }")["repositoriesOrError"]:
                break
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.5)
    else:
        pytest.fail(f"The Dagster UI did not start within {START_SECONDS} s; its log is {log.name}.")
    yield url
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    log.close()


def test_the_graph_shows_every_group_of_the_story(page, ui: str) -> None:
    page.goto(f"{ui}/asset-groups")
    for group in GROUPS:
        page.get_by_text(group, exact=True).first.wait_for(timeout=60_000)


def test_an_asset_shows_its_description_and_grain(page, ui: str) -> None:
    page.goto(f"{ui}/assets/marts/session_similarity")
    page.get_by_text("One row per").first.wait_for(timeout=60_000)


def test_the_whole_study_started_by_its_button_publishes_the_warehouse(page, ui: str, place: Workplace) -> None:
    page.goto(f"{ui}/locations/reprise/jobs/whole_study")
    page.get_by_role("button", name="Materialize all").click(timeout=60_000)
    page.get_by_text("Launched run").wait_for(timeout=60_000)

    deadline = time.monotonic() + RUN_SECONDS
    statuses: list[str] = []
    while time.monotonic() < deadline and statuses not in (["SUCCESS"], ["FAILURE"]):
        time.sleep(2)
        runs = answer(ui, "{ runsOrError { ... on Runs { results { jobName status } } } }")["runsOrError"]["results"]
        statuses = [run["status"] for run in runs if run["jobName"] == "whole_study"]
    assert statuses == ["SUCCESS"]
    assert place.query("select count(*) from marts.sessions") == [(4,)]

    page.goto(f"{ui}/assets/marts/turns")
    page.get_by_text("32").first.wait_for(timeout=60_000)
