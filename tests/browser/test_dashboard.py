"""The dashboard in a real browser: every page, every kind of warehouse, right-to-left text, links, hostile text."""

import re
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

import duckdb
import pytest

from dagster_project.lake import PROJECT_ROOT

GENERATOR = PROJECT_ROOT / "tests" / "dashboards" / "synthetic_warehouse.py"
PAGES = {
    "": "Overview",
    "sql": "SQL",
    "runs": "Runs",
    "language_gaps": "Language gaps",
    "condition_effects": "Condition effects",
    "agents_and_turns": "Agents and turns",
    "explore": "Explore a contrast",
    "robustness": "Robustness and noise",
    "diagnostics": "Diagnostics",
    "repetition": "Repetition",
    "compare": "Compare with the paper",
    "reports": "Published tables",
    "calibration": "Calibration",
    "outcomes": "Judged quality",
    "functions": "Functions of pairs",
    "transcripts": "Transcripts",
    "pairs": "Pair explorer",
}
# Words that a page writes last. Streamlit calls a script finished before its first run begins, so its state alone does
# not tell whether the page is complete.
LAST_WORDS = {
    "Overview": "dbt version",
    "SQL": "meta.build",
    "Runs": "compare them with its bill",
    "Language gaps": "The spread of the paired differences",
    "Condition effects": "Positive = the gap narrows",
    "Agents and turns": "Each point is the mean over motions",
    "Explore a contrast": "One stem a motion",
    "Robustness and noise": "The level that similarity has without a shared motion",
    "Repetition": "Turns said again word for word",
    "Diagnostics": "lowers similarity by saying less",
    "Compare with the paper": "what would fill those",
    "Calibration": "with label 0 or 1",
    "Judged quality": "differences within a language",
    "Functions of pairs": "Two pairs of each function",
    "Published tables": "Published values come from",
    "Transcripts": "Similarity alone does not tell repetition",
    "Pair explorer": "Read it in its debate",
}
SECONDS_PER_PAGE = 2.0
FINISHED = """([title, words]) => {
  const charts = [...document.querySelectorAll('[data-testid=stVegaLiteChart]')];
  return document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'
    && document.querySelector('h1')?.innerText === title
    && document.querySelector('[data-testid=stMain]').innerText.includes(words)
    && charts.every(chart => chart.querySelector('canvas, svg'));
}"""
ATTACK = '<img src=x onerror="window.attacked = true"><script>window.attacked = true</script> **bold** $x^2$ :smile:'


def _lake(folder: Path, scale: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, GENERATOR, folder / "warehouse.duckdb", "--scale", str(scale)], check=True)
    return folder


@pytest.fixture(scope="session")
def small(start_dashboard, tmp_path_factory):
    return start_dashboard(_lake(tmp_path_factory.mktemp("small-lake"), 1))


@pytest.fixture(scope="session")
def hostile(start_dashboard, tmp_path_factory):
    lake = _lake(tmp_path_factory.mktemp("hostile-lake"), 1)
    with duckdb.connect(str(lake / "warehouse.duckdb")) as connection:
        for table, columns in {
            "turns": ["text", "agent"],
            "arguments": ["claim", "agent", "argument_type"],
            "sessions": ["motion_text"],
            "max_prior_pairs": ["agent", "nearest_agent"],
            "turn_similarity": ["agent"],
            "rejects": ["raw_line", "detail"],
        }.items():
            for column in columns:
                connection.execute(f"update marts.{table} set {column} = ? || {column}", [ATTACK])
        connection.execute("update marts.gap_estimates set agent = ? || agent where agent is not null", [ATTACK])
    return start_dashboard(lake)


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("screenshots")


def _open(page, url: str, *, words: str | None = None) -> None:
    """Opens `url` and waits until its script has run, its charts are drawn and `words` (its last ones) stand there."""
    page.goto(url)
    title = PAGES[re.match(r"https?://[^/]+/?([^?]*)", url)[1]]
    page.wait_for_function(FINISHED, arg=[title, words or LAST_WORDS[title]])
    page.wait_for_timeout(100)


def _choose(page, title: str, *, words: str | None = None) -> float:
    """Opens a page from the menu; returns the seconds until all of it is there and its charts are drawn."""
    started = time.monotonic()
    page.get_by_test_id("stSidebarNavLink").filter(has_text=title).click()
    page.wait_for_function(FINISHED, arg=[title, words or LAST_WORDS[title]])
    return time.monotonic() - started


@pytest.mark.parametrize("path", PAGES)
def test_a_page_renders_without_an_exception(path: str, page, small, screenshots: Path):
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    _open(page, f"{small.url}/{path}")
    page.screenshot(path=screenshots / f"{path or 'overview'}.png", full_page=True)
    assert page.locator("h1").inner_text() == PAGES[path]
    assert page.get_by_test_id("stException").count() == 0
    assert page.locator(".rp-note.problem").count() == 0
    assert page.get_by_text("Snapshot build-synthetic").count() == 1
    for chart in page.get_by_test_id("stVegaLiteChart").all():
        box = chart.bounding_box()
        assert box["width"] > 150
        assert box["height"] > 80
    assert [url for url in requests if not re.match(rf"data:|(blob:)?{small.url}/", url)] == []


def test_every_page_is_reached_from_the_menu(page, small):
    _open(page, small.url)
    for title in PAGES.values():
        _choose(page, title)
        assert page.get_by_test_id("stException").count() == 0


def test_an_arabic_debate_is_laid_out_from_right_to_left(page, small, screenshots: Path):
    _open(page, f"{small.url}/transcripts?session=S0002-ar-baseline-r1&argument=S0002-ar-baseline-r1/3/2")
    page.screenshot(path=screenshots / "transcript_arabic.png", full_page=True)
    layout = page.evaluate(
        """() => [...document.querySelectorAll('.rp-turn > .rp-text')].map(element => {
            const style = getComputedStyle(element), range = document.createRange();
            range.selectNodeContents(element);
            const rightmost = Math.max(...[...range.getClientRects()].map(line => line.right));
            return {language: element.lang, direction: style.direction, align: style.textAlign,
                    isolation: style.unicodeBidi, fromRight: element.getBoundingClientRect().right - rightmost};
        })"""
    )
    assert len(layout) == 8
    for turn in layout:
        assert turn["language"] == "ar"
        assert turn["direction"] == "rtl"
        assert turn["align"] == "right"
        assert turn["isolation"] == "isolate"
        assert abs(turn["fromRight"]) < 2
    assert page.locator(".rp-pair.here").count() == 1


def test_a_chinese_debate_carries_its_language(page, small, screenshots: Path):
    _open(page, f"{small.url}/transcripts?session=S0002-zh-baseline-r1")
    page.screenshot(path=screenshots / "transcript_chinese.png", full_page=True)
    assert page.locator(".rp-turn > .rp-text[lang=zh]").count() == 8


def test_a_choice_changes_the_address_and_the_address_restores_the_choice(page, small):
    _open(page, f"{small.url}/language_gaps?field=claim%20%2B%20warrant&aggregate=mean%20over%20turns")
    assert page.get_by_text("mean over turns, claim + warrant").count() == 1
    _open(page, f"{small.url}/transcripts")
    assert "session=S0001-en-baseline-r1" in page.url


def test_hostile_text_does_nothing_on_any_page(page, hostile, screenshots: Path):
    failed: list[str] = []
    page.on("pageerror", lambda error: failed.append(str(error)))
    _open(page, hostile.url)
    for path, title in PAGES.items():
        _choose(page, title)
        page.screenshot(path=screenshots / f"hostile_{path or 'overview'}.png", full_page=True)
        assert page.evaluate("window.attacked") is None
        assert page.locator("[data-testid=stMain] img").count() == 0
        assert page.locator("[data-testid=stMain] .katex").count() == 0
        assert page.get_by_test_id("stException").count() == 0
    assert failed == []


def test_hostile_text_in_a_transcript_reads_as_it_was_written(page, hostile):
    _open(page, f"{hostile.url}/transcripts")
    assert ATTACK in page.locator(".rp-turn > .rp-text").first.inner_text()


def test_a_chart_tooltip_shows_hostile_text_as_text(page, hostile):
    _open(page, f"{hostile.url}/agents_and_turns")
    chart = page.get_by_test_id("stVegaLiteChart").nth(1)
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    tooltip = page.locator("#vg-tooltip-element.visible")
    # The points' places depend on fonts, so the mouse crosses the chart until a tooltip opens.
    for across in range(int(box["width"] * 0.35), int(box["width"]), 6):
        for down in range(10, int(box["height"]) - 60, 6):
            page.mouse.move(box["x"] + across, box["y"] + down)
            if tooltip.count():
                break
        if tooltip.count():
            break
    assert "<img src=x" in tooltip.inner_text()
    assert page.evaluate("window.attacked") is None


def test_a_statement_is_run_on_the_sql_page(page, small, screenshots: Path):
    _open(page, f"{small.url}/sql?sql={quote('select count(*) as sessions from marts.sessions')}")
    page.get_by_role("button", name="Run").click()
    page.get_by_text("1 row.").wait_for()
    page.screenshot(path=screenshots / "sql_answer.png", full_page=True)
    page.get_by_role("textbox", name="Statement").fill("drop table marts.sessions")
    page.get_by_role("button", name="Run").click()
    page.locator(".rp-note.problem", has_text="DROP statement").wait_for()
    assert page.get_by_test_id("stException").count() == 0


def test_numbers_come_down_as_csv(page, small):
    _open(page, f"{small.url}/language_gaps")
    with page.expect_download() as download:
        page.locator(".st-key-csv-language-gaps").get_by_role("button").click()
    assert download.value.suggested_filename == "language-gaps.csv"
    content = Path(download.value.path()).read_text()
    assert content.startswith("encoder,language,reference_language,estimate,")
    assert content.count("\n") == 11


@pytest.mark.parametrize("scale", [0, None])
def test_without_data_every_page_says_what_to_do(scale: int | None, page, start_dashboard, tmp_path: Path):
    lake = tmp_path / "lake"
    lake.mkdir()
    dashboard = start_dashboard(lake if scale is None else _lake(lake, scale))
    _open(page, dashboard.url, words="make demo")
    for title in PAGES.values():
        _choose(page, title, words="make demo")
        assert page.get_by_test_id("stException").count() == 0


def test_every_page_renders_within_two_seconds_on_a_hundred_samples(page, start_dashboard, tmp_path_factory):
    dashboard = start_dashboard(_lake(tmp_path_factory.mktemp("large-lake"), 100))
    # What a page costs, not what the browser's first visit to the application costs.
    _open(page, f"{dashboard.url}/sql")
    for title in ("Overview", *(title for title in PAGES.values() if title != "Overview")):
        seconds = [_choose(page, title)]
        # Again, with a warm cache, when it was slow, because other processes share the machine.
        while min(seconds) >= SECONDS_PER_PAGE and len(seconds) < 4:
            _choose(page, "SQL")
            seconds.append(_choose(page, title))
        assert min(seconds) < SECONDS_PER_PAGE, title
        assert page.get_by_test_id("stException").count() == 0
