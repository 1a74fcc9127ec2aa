"""The report views: published values beside our own, in any file and under any alias."""

import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tests.dbt.dbt_runs import Built

REPORTS = ("table_03", "table_04", "table_05", "table_06", "table_08", "table_09")
DIAGNOSTIC_REPORTS = (
    *(f"table_{number}" for number in ("07", "10", "11", "19", "23", "25")),
    "decoding",
    "repeat_stability",
    "comparison",
)
ROBUSTNESS_REPORTS = ("table_01", "table_17", "table_20", "table_21", "table_22", "table_24")
INSTRUMENT_REPORTS = tuple(f"table_{number}" for number in ("02", "18", "26", "27", "28", "29", "32", "33", "34"))
VALUES = [
    "estimate", "ci_low", "ci_high", "ci_excludes_zero", "n_motions", "interval_status", "interval_note",
    "published_row", "published_column", "published_value", "published_estimate", "published_ci_low",
    "published_ci_high", "published_excludes_zero", "missing",
]  # fmt: skip


@pytest.mark.parametrize("report", REPORTS)
def test_a_report_ends_in_our_values_and_the_published_ones(warehouse: duckdb.DuckDBPyConnection, report: str) -> None:
    assert warehouse.sql(f"from reports.{report}").columns[-len(VALUES) :] == VALUES


@pytest.mark.parametrize("report", REPORTS)
def test_a_report_has_rows_of_both_and_rows_of_each_alone(warehouse: duckdb.DuckDBPyConnection, report: str) -> None:
    kinds = warehouse.sql(
        f"select distinct estimate is not null, published_value is not null from reports.{report}"
    ).fetchall()
    # The lake has one encoder of the paper, one other, and lacks two of the paper's.
    assert set(kinds) == {(True, True), (True, False), (False, True)}


def test_our_value_stands_beside_the_published_one_of_the_same_cell(warehouse: duckdb.DuckDBPyConnection) -> None:
    ours = {
        language: warehouse.sql(
            f"""
            select avg(gap) from marts.language_gaps
            where condition = 'baseline' and extractor = 'main' and encoder = 'bge-m3' and field = 'claim'
                and variant = 'raw' and language = '{language}'
            """
        ).fetchall()[0][0]
        for language in ("ar", "zh")
    }
    rows = warehouse.sql(
        "select language, estimate, published_estimate from reports.table_03 where encoder = 'bge-m3'"
    ).fetchall()
    assert rows == [
        ("ar", pytest.approx(ours["ar"]), -0.025),
        ("es", None, -0.022),
        ("fr", None, -0.018),
        ("ru", None, -0.010),
        ("zh", pytest.approx(ours["zh"]), 0.047),
    ]
    assert warehouse.sql("select estimate, published_estimate from reports.table_04").fetchall()[0] == (
        pytest.approx(ours["zh"]),
        0.047,
    )


def test_a_pair_of_agents_is_shown_in_the_published_direction(warehouse: duckdb.DuckDBPyConnection) -> None:
    as_estimated = warehouse.sql(
        """
        select -gap_estimates.estimate, published_values.estimate from marts.gap_estimates, reports.published_values
        where contrast = 'agent_contrast' and agent = 'gpt-5.5' and reference_agent = 'claude' and language = 'zh'
            and condition = 'baseline' and encoder = 'bge-m3' and field = 'claim' and extractor = 'main'
            and variant = 'raw' and "table" = '6' and "row" = 'Claude - GPT-5.5' and "column" = encoder
        """
    ).fetchall()
    shown = warehouse.sql(
        """
        select estimate, published_estimate from reports.table_06
        where encoder = 'bge-m3' and agent = 'claude' and reference_agent = 'gpt-5.5'
        """
    ).fetchall()
    assert shown == as_estimated
    assert len(shown) == 1


def test_the_gap_reduction_is_the_baseline_gap_minus_the_condition_gap(warehouse: duckdb.DuckDBPyConnection) -> None:
    shown = dict(warehouse.sql("select quantity, estimate from reports.table_09 where encoder = 'bge-m3'").fetchall())
    assert shown["gap_reduction"] == pytest.approx(shown["baseline_gap"] - shown["condition_gap"])


def test_tables_are_ordered_as_in_the_paper(warehouse: duckdb.DuckDBPyConnection) -> None:
    encoders = warehouse.sql("select encoder from reports.table_08").fetchall()
    assert list(dict.fromkeys(encoders)) == [("bge-m3",), ("multilingual-e5-large",), ("labse",), ("toy",)]
    languages = warehouse.sql("select language from reports.table_08 where encoder = 'labse'").fetchall()
    assert [language for (language,) in languages] == ["en", "ar", "es", "fr", "ru", "zh"]


def test_views_work_in_a_copy_under_another_name_and_alias(built: Built, tmp_path: Path) -> None:
    copy = tmp_path / "published-abc.duckdb"
    shutil.copyfile(built.warehouse, copy)
    with duckdb.connect() as elsewhere:
        elsewhere.execute(f"attach '{copy}' as w (read_only)")
        # A catalog of the same name that holds nothing: a view that names its catalog would look there.
        elsewhere.execute("attach ':memory:' as warehouse")
        for report in (*REPORTS, *ROBUSTNESS_REPORTS, *INSTRUMENT_REPORTS, *DIAGNOSTIC_REPORTS):
            assert elsewhere.sql(f"select count(*) from w.reports.{report}").fetchall()[0][0] > 0


def test_an_older_client_reads_every_report(built: Built, tmp_path: Path) -> None:
    older = tmp_path / "older.duckdb"
    with duckdb.connect() as copier:
        copier.execute(f"attach '{str(built.warehouse).replace(chr(39), chr(39) * 2)}' as built (read_only)")
        copier.execute(f"attach '{older}' as older (storage_version 'v1.0.0')")
        copier.execute("copy from database built to older")
        reports = [
            name
            for (name,) in copier.sql("select view_name from duckdb_views() where schema_name = 'reports'").fetchall()
        ]
    for report in set(reports):
        prompt = [
            Path(sys.executable).with_name("duckdb"),
            "-readonly",
            older,
            f"select count(*) from reports.{report}",
        ]
        done = subprocess.run(prompt, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{report}: {done.stderr}"


def test_rows_of_ours_come_first_where_no_encoder_is_published(built: Built, tmp_path: Path) -> None:
    copy = tmp_path / "toy.duckdb"
    shutil.copyfile(built.warehouse, copy)
    with duckdb.connect(copy) as alone:
        alone.execute("delete from marts.gap_estimates where encoder <> 'toy'")
        for report in REPORTS:
            ours = [encoder == "toy" for (encoder,) in alone.sql(f"select encoder from reports.{report}").fetchall()]
            assert ours == sorted(ours, reverse=True), report
            assert any(ours), report


def test_a_row_that_only_the_paper_has_says_what_would_fill_it(warehouse: duckdb.DuckDBPyConnection) -> None:
    for report in REPORTS:
        rows = warehouse.sql(f"select estimate, published_value, missing from reports.{report}").fetchall()
        assert all((missing is not None) == (estimate is None) for estimate, _, missing in rows), report
        assert all(published is not None for estimate, published, _ in rows if estimate is None), report


def test_robustness_reports_show_the_numbers_of_their_marts(warehouse: duckdb.DuckDBPyConnection) -> None:
    gap, published = warehouse.sql(
        "select estimate, published_estimate from reports.table_01 "
        "where variant = 'raw' and field = 'claim' and encoder = 'bge-m3' and language = 'zh'"
    ).fetchall()[0]
    assert (gap, published) == warehouse.sql(
        "select estimate, 0.0469::double from reports.table_04 where encoder = 'bge-m3'"
    ).fetchall()[0]
    estimators = dict(
        warehouse.sql("select estimator, published_std_error from reports.table_17 where encoder = 'bge-m3'").fetchall()
    )
    assert estimators == {"bootstrap": "–", "ols_fixed_effects": "0.0033", "mixed": "0.0027"}
    specifications = warehouse.sql(
        "select specification, published_n_turns from reports.table_24 where encoder = 'bge-m3' and language = 'zh'"
    ).fetchall()
    assert specifications == [(name, "994") for name in ("A", "B", "C", "C_bootstrap")]


def test_no_view_names_a_catalog(warehouse: duckdb.DuckDBPyConnection) -> None:
    views = warehouse.sql("select view_name, sql from duckdb_views() where not internal").fetchall()
    assert {name for name, _ in views} == {*REPORTS, *ROBUSTNESS_REPORTS, *INSTRUMENT_REPORTS, *DIAGNOSTIC_REPORTS}
    for name, sql in views:
        assert "warehouse" not in sql, name
        assert "scratch" not in sql, name
