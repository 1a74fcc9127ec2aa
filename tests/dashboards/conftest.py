"""Made-up warehouses in the published schema, and a way to open a page on one of them."""

import functools
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import duckdb
import pytest
from streamlit.testing.v1 import AppTest

from dagster_project.lake import LAKE_VARIABLE
from dashboards import warehouse
from dashboards.warehouse import Snapshot
from tests.dashboards.synthetic_warehouse import build_empty_warehouse, build_warehouse

APP = Path(warehouse.__file__).parent / "app.py"
VIEWS = (
    "overview",
    "sql",
    "runs",
    "language_gaps",
    "condition_effects",
    "agents_and_turns",
    "explore",
    "robustness",
    "diagnostics",
    "repetition",
    "compare",
    "reports",
    "calibration",
    "outcomes",
    "functions",
    "transcripts",
    "pairs",
)

# Stands in every hostile text, so that a test can find where such a text went.
MARKER = "HOSTILE"
HOSTILE_TEXTS = (
    f"<script>alert('{MARKER}')</script><img src=x onerror=alert(1)>",
    f"**{MARKER}** _em_ `code` # title",
    f"${MARKER}$ and $$x^2$$ :smile: :red[{MARKER}]",
    f"[{MARKER}](javascript:alert(1)) ![{MARKER}](http://localhost/x.png)",
    f"{MARKER} \u202egnp.exe\u202c \u2067 unbalanced",
    f'=cmd|"/c {MARKER}"!A1',
)


@pytest.fixture(scope="session")
def small_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """120 sessions over ten motions: intervals from too few clusters."""
    return build_warehouse(tmp_path_factory.mktemp("small") / "small.duckdb")


@pytest.fixture(scope="session")
def large_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """12,000 sessions, about 340,000 arguments, 1.8 million pairs."""
    return build_warehouse(tmp_path_factory.mktemp("large") / "large.duckdb", scale=100)


@pytest.fixture(scope="session")
def single_motion_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One motion: estimates without an interval."""
    return build_warehouse(tmp_path_factory.mktemp("single") / "single.duckdb", motions=1)


@pytest.fixture(scope="session")
def empty_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_empty_warehouse(tmp_path_factory.mktemp("empty") / "empty.duckdb")


@pytest.fixture(scope="session")
def hostile_warehouse(tmp_path_factory: pytest.TempPathFactory, small_warehouse: Path) -> Path:
    """Every free text, and every name that an archive brings, holds HTML, Markdown, formulas or direction overrides."""
    path = tmp_path_factory.mktemp("hostile") / "hostile.duckdb"
    shutil.copy(small_warehouse, path)
    with duckdb.connect(str(path)) as connection:
        for table, columns in {
            "turns": ["text"],
            "arguments": ["claim", "warrant", "evidence_or_example", "argument_type", "argument_type_raw"],
            "sessions": ["motion_text", "status"],
            "extraction_failures": ["raw_response", "reason"],
            "rejects": ["detail", "raw_line", "reason", "record_id", "file", "table_name"],
            "encoders": ["model", "backend"],
            "function_labels": ["rationale"],
            "judge_scale": ["judge"],
            "outcome_associations": ["judge"],
            "agreement": ["rater"],
        }.items():
            for column in columns:
                connection.execute(f"update marts.{table} set {column} = ?", [" ".join(HOSTILE_TEXTS)])
        for column in ("row", "note"):
            connection.execute(f'update reports.comparison set "{column}" = ?', [" ".join(HOSTILE_TEXTS)])
        for table, column in _columns_named(connection, "agent", "reference_agent", "nearest_agent"):
            connection.execute(
                f"update marts.{table} set {column} = {column} || ' **{MARKER}** <b>x</b>' where {column} is not null"
            )
        for table, column in _columns_named(connection, "condition", "reference_condition"):
            connection.execute(
                f"update marts.{table} set {column} = {column} || ' :smile: ${MARKER}$' where {column} = 'diversity'"
            )
        for table, column in _columns_named(connection, "motion_id"):
            connection.execute(f"update marts.{table} set {column} = {column} || '<i>{MARKER}</i>'")
        connection.execute(f"comment on view reports.table_03 is '**{MARKER}** <b>x</b>'")
        connection.execute(f"update marts.repeat_noise set interval_note = '[{MARKER}](javascript:alert(1))'")
        connection.execute(
            f"update marts.gap_estimates set interval_note = '[{MARKER}](javascript:alert(1))', "
            "interval_status = 'no_interval', ci_low = null, ci_high = null where language = 'fr'"
        )
    return path


def _columns_named(connection: duckdb.DuckDBPyConnection, *names: str) -> list[tuple[str, str]]:
    return connection.execute(
        "select columns.table_name, column_name from duckdb_columns() as columns join duckdb_tables() as tables "
        "using (schema_name, table_name) where schema_name = 'marts' and list_contains(?, column_name)",
        [list(names)],
    ).fetchall()


@pytest.fixture
def lake_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path | None], Path]:
    """Makes a lake whose warehouse is the given file (or none), and puts it in force; returns its link."""

    def make(path: Path | None) -> Path:
        link = tmp_path / "lake" / "warehouse.duckdb"
        link.parent.mkdir(exist_ok=True)
        link.unlink(missing_ok=True)
        if path is not None:
            link.symlink_to(path)
        monkeypatch.setenv(LAKE_VARIABLE, str(link.parent))
        return link

    return make


@pytest.fixture
def open_page(lake_with) -> Callable[..., AppTest]:
    """Opens a page of the application on a warehouse, as a link to it with `query_params` does."""

    def open_(path: Path | None, view: str, query_params: Mapping[str, str] | None = None) -> AppTest:
        lake_with(path)
        return _open(view, query_params or {})

    return open_


@pytest.fixture(scope="session")
def small_page(tmp_path_factory: pytest.TempPathFactory, small_warehouse: Path) -> Callable[[str], AppTest]:
    """A page on the small warehouse, opened once for all tests that only look at it."""
    lake = tmp_path_factory.mktemp("small-lake")
    (lake / "warehouse.duckdb").symlink_to(small_warehouse)

    @functools.cache
    def open_(view: str) -> AppTest:
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv(LAKE_VARIABLE, str(lake))
            return _open(view, {})

    return open_


def _open(view: str, query_params: Mapping[str, str]) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params.update(query_params)
    # The overview is the default page, which is opened by naming none.
    return (app if view == "overview" else app.switch_page(f"views/{view}.py")).run()


def snapshot_of(path: Path) -> Snapshot:
    return Snapshot(path, str(path))
