"""Reading the published file: parameters, snapshots, what happens when the file is missing, old or replaced."""

import hashlib
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from dashboards import warehouse
from dashboards.warehouse import (
    MAX_ROWS,
    MissingWarehouseError,
    SlowQueryError,
    SnapshotGoneError,
    UnreadableWarehouseError,
    asker,
    current_snapshot,
    execute,
    literal,
    open_read_only,
    read_query,
    with_literals,
)
from tests.dashboards.conftest import snapshot_of

MEASURE = {"extractor": "sample-extractor", "field": "claim", "variant": "raw"}
CONTRAST = {**MEASURE, "condition": "baseline", "aggregate": "agent_mean"}
TURNS = {**MEASURE, "condition": "baseline", "encoder": "use-multilingual-v3"}
SESSION = {
    "session": "S0001-en-baseline-r1",
    "extractor": "sample-extractor",
    "encoder": "use-multilingual-v3",
    "field": "claim",
}
PAIRS = {
    "languages": ["en", "zh"],
    "condition": "baseline",
    "extractor": "sample-extractor",
    "encoder": "use-multilingual-v3",
    "field": "claim",
}
PANEL = {name: value for name, value in PAIRS.items() if name != "languages"}
EXPLORED = {
    **CONTRAST,
    "contrast": "language_gap",
    "languages": ["ar", "zh"],
    "encoder": "use-multilingual-v3",
    "agent": None,
    "reference_agent": None,
}
PARAMETERS = {
    "agent_contrasts": {**MEASURE, "condition": "baseline", "language": "zh"},
    "agent_gaps": {**MEASURE, "condition": "baseline", "language": "zh"},
    "calibration_alignment": {"field": "claim"},
    "calibration_curve": {"collapse": "repeated", "field": "claim", "extractor": "sample-extractor"},
    "calibration_examples": {
        "encoder": "use-multilingual-v3",
        "field": "claim",
        "extractor": "sample-extractor",
    },
    "calibration_rates": {"collapse": "repeated", "field": "claim", "extractor": "sample-extractor"},
    "diagnostics_correlations": PANEL,
    "diagnostics_types": {"condition": "baseline", "extractor": "sample-extractor"},
    "outcome_associations": {name: value for name, value in PANEL.items() if name != "condition"},
    "condition_effects": {**CONTRAST, "condition": "diversity"},
    "contrast_choices": {"contrast": "agent_contrast"},
    "contrast_estimates": EXPLORED,
    "contrast_motions": {**EXPLORED, "reference_language": "en"},
    "encoder_agreement": PANEL,
    "gap_reductions": {**CONTRAST, "condition": "diversity"},
    "gaps_by_condition": {**CONTRAST, "condition": "diversity", "baseline": "baseline", "language": "zh"},
    "group_gaps": MEASURE,
    "language_gaps": CONTRAST,
    "motion_gaps": CONTRAST,
    "null_distribution": PANEL,
    "pair_detail": {
        "argument": "S0001-en-baseline-r1/2/1",
        "nearest": "S0001-en-baseline-r1/1/1",
        "extractor": "sample-extractor",
    },
    "pair_histogram": {**PAIRS, "bin_width": 0.02},
    "pair_tail_rates": PAIRS,
    "pair_thresholds": PAIRS,
    "pairs": {
        **PAIRS,
        "lowest": 0.2,
        "highest": 0.9,
        "motion": None,
        "agent": "agent_b",
        "side": "same",
        "order": "lowest first",
    },
    "pooled_gaps": {**MEASURE, "condition": "baseline", "language": "zh"},
    "regressions": PANEL,
    "published_agent_gaps": {"language": "zh"},
    "published_condition_effects": {"condition": "diversity"},
    "published_gaps_by_condition": {"condition": "diversity", "baseline": "baseline", "language": "zh"},
    "repeat_noise": {name: value for name, value in PANEL.items() if name != "condition"},
    "repeated_arguments": {
        "condition": "baseline",
        "extractor": "sample-extractor",
        "encoder": "use-multilingual-v3",
        "field": "claim",
    },
    "repeated_turns": {"condition": "baseline"},
    "repetition_agents": {**MEASURE, "condition": "baseline"},
    "report": {"report": "reports.table_03"},
    "tail_rate_contrasts": PANEL,
    "trajectories": TURNS,
    "transcript_arguments": SESSION,
    "transcript_motions": {"language": "en"},
    "transcript_session": {"session": "S0001-en-baseline-r1"},
    "transcript_sessions": {"motion": "S0001"},
    "transcript_turns": SESSION,
    "unscored_turns": TURNS,
}
QUERY_NAMES = sorted(path.stem for path in warehouse.QUERIES.glob("*.sql"))


@pytest.mark.parametrize("name", QUERY_NAMES)
def test_the_sql_shown_on_a_page_gives_the_rows_shown_there(name: str, small_warehouse: Path):
    sql, parameters = read_query(name), PARAMETERS.get(name, {})
    run = {"seconds": 30.0, "max_rows": MAX_ROWS}
    bound = execute(snapshot_of(small_warehouse), sql, parameters, **run)
    pasted = execute(snapshot_of(small_warehouse), with_literals(sql, parameters), {}, **run)
    assert bound == pasted
    assert "$" not in with_literals(sql, parameters)
    assert bound[1] or name in ("overview_exclusions", "repeated_turns")


@pytest.mark.parametrize("name", QUERY_NAMES)
def test_every_query_runs_on_an_empty_warehouse(name: str, empty_warehouse: Path):
    execute(snapshot_of(empty_warehouse), read_query(name), PARAMETERS.get(name, {}), seconds=30.0, max_rows=MAX_ROWS)


def test_every_query_file_is_asked_by_some_page():
    sources = "".join(path.read_text() for path in warehouse.QUERIES.parent.rglob("*.py"))
    assert [name for name in QUERY_NAMES if f'"{name}"' not in sources] == []


@pytest.mark.parametrize("path", sorted((warehouse.QUERIES / "examples").glob("*.sql")), ids=lambda path: path.stem)
def test_every_example_of_the_sql_page_answers(path: Path, small_warehouse: Path):
    columns, rows = execute(snapshot_of(small_warehouse), path.read_text(), {}, seconds=30.0, max_rows=10)
    assert columns
    assert rows


@pytest.mark.parametrize(
    "value", ["it's", "''; drop table x; --", 'a "b"', "back\\slash", "новый\nряд", "", "$session"]
)
def test_a_text_literal_means_the_text(value: str):
    with duckdb.connect() as connection:
        assert connection.execute(f"select {literal(value)}").fetchone() == (value,)


@pytest.mark.parametrize("value", [None, True, False, 3, -0.25, 1e-9, ["a", "it's"], []])
def test_other_literals_mean_their_value(value: object):
    with duckdb.connect() as connection:
        assert connection.execute(f"select {literal(value)}").fetchone() == (value,)


def test_a_missing_warehouse_says_what_to_run(lake_with):
    lake_with(None)
    with pytest.raises(MissingWarehouseError, match="make demo"):
        current_snapshot()


def test_a_link_to_nothing_is_a_missing_warehouse(lake_with, tmp_path: Path):
    lake_with(tmp_path / "gone.duckdb")
    with pytest.raises(MissingWarehouseError, match="make demo"):
        current_snapshot()


def test_a_file_that_is_no_database_is_named(tmp_path: Path):
    path = tmp_path / "notes.duckdb"
    path.write_text("not a database" * 1000)
    with pytest.raises(UnreadableWarehouseError, match=r"notes\.duckdb"), open_read_only(snapshot_of(path)):
        pass


def test_a_snapshot_that_was_removed_is_gone_not_unreadable(tmp_path: Path):
    with pytest.raises(SnapshotGoneError), open_read_only(snapshot_of(tmp_path / "warehouse-old.duckdb")):
        pass


def test_a_page_run_keeps_its_snapshot_while_the_link_is_switched(
    lake_with, small_warehouse: Path, single_motion_warehouse: Path
):
    lake_with(small_warehouse)
    before = current_snapshot()
    lake_with(single_motion_warehouse)
    count = "select count(*) from marts.sessions"
    assert execute(before, count, {}, seconds=5.0, max_rows=1)[1] == ((120,),)
    assert execute(current_snapshot(), count, {}, seconds=5.0, max_rows=1)[1] == ((12,),)


def test_two_builds_have_two_identities(lake_with, small_warehouse: Path, single_motion_warehouse: Path):
    lake_with(small_warehouse)
    first = current_snapshot().identity
    lake_with(single_motion_warehouse)
    assert current_snapshot().identity != first


def test_a_long_query_is_stopped(small_warehouse: Path):
    with pytest.raises(SlowQueryError, match=r"0\.3 seconds"):
        execute(
            snapshot_of(small_warehouse),
            "select count(*) from range(10_000_000) a, range(10_000_000) b where a.range = b.range + 1",
            {},
            seconds=0.3,
            max_rows=1,
        )


def test_no_lock_is_left_on_the_file_after_a_query(small_warehouse: Path):
    execute(snapshot_of(small_warehouse), "select 1", {}, seconds=5.0, max_rows=1)
    writer = f"import duckdb; duckdb.connect({str(small_warehouse)!r}).close()"
    subprocess.run([sys.executable, "-c", writer], check=True)


def test_reading_changes_no_byte_of_the_file(small_warehouse: Path):
    before = hashlib.sha256(small_warehouse.read_bytes()).hexdigest()
    for name in QUERY_NAMES:
        execute(snapshot_of(small_warehouse), read_query(name), PARAMETERS.get(name, {}), seconds=30.0, max_rows=10)
    assert hashlib.sha256(small_warehouse.read_bytes()).hexdigest() == before


def test_what_is_asked_for_a_file_depends_on_neither_threads_nor_the_place_of_the_machine(
    small_warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(warehouse, "QUERIES", tmp_path)
    # Sums of floating-point numbers depend on the order that threads take, texts of moments on the zone.
    (tmp_path / "settings.sql").write_text("select current_setting('threads'), current_setting('timezone')")
    assert asker(snapshot_of(small_warehouse))("settings").rows == ((1, "UTC"),)
