"""The study report: what it says, that it holds nothing but text, and that it is the same for the same warehouse."""

import csv
import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import duckdb
import pytest

from dashboards.document import Document, Section, Table, as_html, as_markdown
from dashboards.figures import figures
from dashboards.report import Written, write_report
from dashboards.study import load_study
from dashboards.warehouse import UnreadableWarehouseError, asker
from tests.dashboards.conftest import HOSTILE_TEXTS, MARKER, snapshot_of
from tests.dashboards.synthetic_warehouse import build_warehouse


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory, small_warehouse: Path) -> Written:
    return write_report(small_warehouse, tmp_path_factory.mktemp("report"))


class Page(HTMLParser):
    """The tags, attributes and visible text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_holds_every_chapter_and_refers_to_nothing_outside_itself(written: Written) -> None:
    page = Page(written.html.read_text(encoding="utf-8"))
    for chapter in ("What may and may not be concluded", "What ran", "What was analysed", "Figures", "Table 3"):
        assert chapter in page.text
    links = [attributes.get("src") or attributes.get("href") for _, attributes in page.tags]
    assert all(link.startswith(("data:image/svg+xml;base64,", "#s")) for link in links if link)
    assert sum(tag == "img" for tag, _ in page.tags) == 4
    assert not {tag for tag, _ in page.tags} & {"script", "link", "iframe"}
    assert "nan" not in re.findall(r"[a-z]+", page.text.lower())
    assert "None" not in page.text


def test_limits_are_computed_from_the_data(written: Written) -> None:
    told = written.markdown.read_text(encoding="utf-8")
    assert "The intervals rest on 10 motions, fewer than 20" in told
    assert "Annotators labelled pairs: English 19 pairs" in told
    assert "The judge judge uses 4 values of ten for overall quality" in told
    assert "Under all encoders the gap has one sign for" in told


def test_figures_are_files_with_the_numbers_behind_them(written: Written, small_warehouse: Path) -> None:
    names = {path.name for path in written.figures}
    assert {f"figure_{n}.{kind}" for n in (1, 2, 3, 4) for kind in ("svg", "png")} <= names
    for path in written.figures:
        if path.suffix == ".svg":
            assert ET.fromstring(path.read_text(encoding="utf-8")).tag == "{http://www.w3.org/2000/svg}svg"
        if path.suffix == ".png":
            assert path.read_bytes()[:4] == b"\x89PNG"
    (numbers,) = [path for path in written.figures if path.name == "figure_1_1.csv"]
    rows = list(csv.DictReader(io.StringIO(numbers.read_text(encoding="utf-8"))))
    with duckdb.connect(small_warehouse, read_only=True) as warehouse:
        expected = warehouse.sql(
            "select encoder, language, estimate from marts.gap_estimates where contrast = 'language_gap' and condition "
            "= 'baseline' and aggregate = 'agent_mean' and field = 'claim' and variant = 'raw' order by all"
        ).fetchall()
    assert [(row["encoder"], row["language"], float(row["estimate"])) for row in rows] == expected
    assert "figures/figure_1.svg" in written.markdown.read_text(encoding="utf-8")


def test_figures_lay_published_values_under_rows_of_the_same_encoder(small_warehouse: Path) -> None:
    ask = asker(snapshot_of(small_warehouse))
    diamonds = {
        figure.name: {
            (row["name"], row["estimate"])
            for values in _inline_values(figure.chart.to_dict(), "diamond")
            for row in values
        }
        for figure in figures(ask, load_study(ask))
    }
    # The paper has one value of an encoder of this warehouse; those of bge-m3 have no row in it.
    agents = {f"agent_{letter}" for letter in "abcd"}
    assert diamonds == {
        "figure_1": {("Chinese", 0.053)},
        "figure_2": {("Chinese", 0.053), ("multilingual-e5-small", 0.053)},
        "figure_3": {("multilingual-e5-small", 0.053), *((agent, 0.053) for agent in agents)},
        "figure_4": set(),
    }


def _inline_values(part: object, shape: str) -> Iterator[list[dict[str, object]]]:
    """The data of every layer of a chart that is drawn in this shape."""
    if isinstance(part, dict):
        if isinstance(part.get("mark"), dict) and part["mark"].get("shape") == shape:
            yield part["data"]["values"]
        for inner in part.values():
            yield from _inline_values(inner, shape)
    elif isinstance(part, list):
        for inner in part:
            yield from _inline_values(inner, shape)


def test_the_same_warehouse_gives_the_same_bytes(written: Written, small_warehouse: Path, tmp_path: Path) -> None:
    again = write_report(small_warehouse, tmp_path)
    assert again.html.read_bytes() == written.html.read_bytes()
    assert again.markdown.read_bytes() == written.markdown.read_bytes()
    assert [path.read_bytes() for path in again.figures] == [path.read_bytes() for path in written.figures]


def test_a_warehouse_without_a_row_has_a_report_that_says_so(empty_warehouse: Path, tmp_path: Path) -> None:
    told = write_report(empty_warehouse, tmp_path)
    assert told.figures == ()
    text = told.markdown.read_text(encoding="utf-8")
    assert "0 motions, 0 sessions" in text
    assert "No language gap can be estimated here" in text


def test_what_is_no_warehouse_is_refused(tmp_path: Path) -> None:
    broken = tmp_path / "broken.duckdb"
    broken.write_bytes(b"\x00" * 20_000)
    with pytest.raises(UnreadableWarehouseError):
        write_report(broken, tmp_path)


@pytest.mark.parametrize("hostile", HOSTILE_TEXTS)
def test_hostile_text_stays_text_in_both_forms(hostile: str) -> None:
    table = Table({"a": hostile}, [{"a": hostile}], note=hostile)
    document = Document(hostile, [hostile], [Section(hostile, [hostile, table])])
    page = Page(as_html(document))
    plain = {"html", "head", "meta", "title", "style", "body", "h1", "p", "nav", "ol", "li", "a", "h2", "div", "table",
             "thead", "tr", "th", "tbody", "td", "span"}  # fmt: skip
    assert {tag for tag, _ in page.tags} <= plain
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert page.text.count(MARKER) >= 7
    markdown = as_markdown(document, "figures")
    assert not re.search(r"(?<!\\)[<*_`$\[]", markdown.replace("\\\\", ""))


def test_hostile_names_in_a_warehouse_do_no_harm(hostile_warehouse: Path, tmp_path: Path) -> None:
    page = Page(write_report(hostile_warehouse, tmp_path).html.read_text(encoding="utf-8"))
    assert not {tag for tag, _ in page.tags} & {"script", "em", "code"}
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)


def test_one_motion_and_one_encoder_are_limits_too(tmp_path: Path) -> None:
    warehouse = build_warehouse(tmp_path / "one.duckdb", motions=1)
    with duckdb.connect(str(warehouse)) as connection:
        for table in ("encoders", "max_prior_pairs", "turn_similarity", "session_similarity", "gap_estimates"):
            connection.execute(f"delete from marts.{table} where encoder = 'multilingual-e5-small'")
    told = write_report(warehouse, tmp_path).markdown.read_text(encoding="utf-8")
    assert "One encoder, use-multilingual-v3, measured everything" in told
    assert "rest on 1 motion, fewer than 20" in told
