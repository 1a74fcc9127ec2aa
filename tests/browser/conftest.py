"""A real Chromium and a real dashboard server, the latter once for each kind of warehouse."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from dagster_project.lake import LAKE_VARIABLE, PROJECT_ROOT

CHROMIUM_VARIABLE = "CHROMIUM"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--force-color-profile=srgb",
]
START_SECONDS = 30


@dataclass(frozen=True)
class Dashboard:
    url: str
    process: subprocess.Popen


@pytest.fixture(scope="session")
def browser() -> Iterator:
    executable = os.environ.get(CHROMIUM_VARIABLE) or shutil.which("chromium") or shutil.which("chromium-browser")
    if executable is None:
        pytest.fail(
            "The browser tests need Chromium: install it (Debian and Ubuntu: apt-get install chromium "
            f"fonts-noto-core fonts-noto-cjk) or set {CHROMIUM_VARIABLE} to its path.",
            pytrace=False,
        )
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.fail("The browser tests need Playwright: pip install -e '.[dev]'.", pytrace=False)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, headless=True, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser) -> Iterator:
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def start_dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path], Dashboard]]:
    """Starts `streamlit run` on a lake and waits until it answers; everything started is stopped at the end."""
    started: list[Dashboard] = []
    log = (tmp_path_factory.mktemp("dashboard") / "streamlit.log").open("wb")

    def start(lake: Path) -> Dashboard:
        with socket.socket() as probe:
            probe.bind(("localhost", 0))
            port = probe.getsockname()[1]
        process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "dashboards/app.py", "--server.port", str(port)],
            cwd=PROJECT_ROOT,
            env={**os.environ, LAKE_VARIABLE: str(lake)},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        dashboard = Dashboard(f"http://localhost:{port}", process)
        started.append(dashboard)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            try:
                with urllib.request.urlopen(f"{dashboard.url}/_stcore/health", timeout=1):
                    return dashboard
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                time.sleep(0.1)
        pytest.fail(f"The dashboard did not start within {START_SECONDS} s; its log is {log.name}.")

    yield start
    for dashboard in started:
        dashboard.process.terminate()
    for dashboard in started:
        dashboard.process.wait(timeout=10)
    log.close()
