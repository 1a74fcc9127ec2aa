"""Every page on every kind of warehouse: what it shows, what it says when there is nothing, and how fast."""

import json
import math
import re
import shutil
import statistics
import time
from pathlib import Path

import duckdb
import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboards import warehouse
from dashboards.adhoc import MAX_ROWS as SHOWN_ROWS
from dashboards.study import ordered
from dashboards.warehouse import Snapshot, execute, read_query
from tests.dashboards.conftest import APP, MARKER, VIEWS, snapshot_of
from tests.dashboards.elements import elements, html_bodies, page_text, read_html

SECONDS_PER_PAGE = 2.0
VIEWS_OF_RESULTS = tuple(view for view in VIEWS if view not in ("overview", "sql", "runs"))


@pytest.mark.parametrize("view", VIEWS)
def test_a_page_opens_without_an_exception(view: str, small_page):
    app = small_page(view)
    assert not app.exception
    assert len(app.title) == 1
    assert "problem" not in _note_kinds(app)


@pytest.mark.parametrize("view", VIEWS)
def test_a_page_on_a_warehouse_without_sessions_says_what_to_do(view: str, open_page, empty_warehouse: Path):
    app = open_page(empty_warehouse, view)
    assert not app.exception
    assert "make demo" in page_text(app)


@pytest.mark.parametrize("view", VIEWS)
def test_a_page_without_a_warehouse_says_what_to_do(view: str, open_page):
    app = open_page(None, view)
    assert not app.exception
    assert "make demo" in page_text(app)


@pytest.mark.parametrize("view", VIEWS)
def test_a_page_on_a_file_that_is_no_database_says_what_to_do(view: str, open_page, tmp_path: Path):
    broken = tmp_path / "broken.duckdb"
    broken.write_bytes(b"\x00" * 20_000)
    app = open_page(broken, view)
    assert not app.exception
    assert "make demo" in page_text(app)


@pytest.mark.parametrize(
    ("view", "relation"),
    [
        ("overview", "marts.rejects"),
        ("runs", "marts.planned_debates"),
        ("language_gaps", "marts.gap_estimates"),
        ("condition_effects", "marts.study"),
        ("agents_and_turns", "marts.turn_similarity"),
        ("explore", "marts.motion_contrasts"),
        ("robustness", "marts.regression_estimates"),
        ("transcripts", "marts.arguments"),
        ("pairs", "marts.max_prior_pairs"),
        ("overview", "meta.build"),
    ],
)
def test_a_page_names_the_table_that_an_older_warehouse_lacks(
    view: str, relation: str, open_page, small_warehouse: Path, tmp_path: Path
):
    older = tmp_path / "older.duckdb"
    shutil.copy(small_warehouse, older)
    with duckdb.connect(str(older)) as connection:
        connection.execute(f"drop table {relation} cascade")
    app = open_page(older, view)
    assert not app.exception
    assert relation.partition(".")[2] in page_text(app)
    assert "make demo" in page_text(app)


def test_a_warehouse_without_reports_says_so(open_page, small_warehouse: Path, tmp_path: Path):
    older = tmp_path / "older.duckdb"
    shutil.copy(small_warehouse, older)
    with duckdb.connect(str(older)) as connection:
        connection.execute("drop schema reports cascade")
    app = open_page(older, "reports")
    assert not app.exception
    assert "no reports" in page_text(app)


def test_every_report_is_shown_also_one_without_intervals_or_motions(open_page, small_warehouse: Path, tmp_path: Path):
    more = tmp_path / "more.duckdb"
    shutil.copy(small_warehouse, more)
    with duckdb.connect(str(more)) as connection:
        connection.execute(
            """
            create view reports.table_20 as
            select 'zh' as language, 0.71234::double as lowest, '0.696 – 0.812' as published_value, null as missing;
            create view reports.table_19 as
            select 'n_turns' as measure, 'zh' as language, 80::double as estimate, '568' as published_value
            union all select 'exact_rate', 'zh', 0.9::double, '0.944'
            union all select 'mean_similarity', 'zh', 0.46342::double, null;
            drop table reports.comparison;
            create view reports.comparison as
            select '4' as "table", 'bge-m3' as "row", 'zh - en' as "column", null::double as estimate,
                '+0.047' as published_value, null::double as difference, 'Needs this encoder.' as note
            """
        )
    shown = {}
    titles = {
        "table_19": "Table 19: sentence counts and lengths",
        "table_20": "Table 20: agreement of encoders",
        "comparison": "All tables at once",
    }
    for report, title in titles.items():
        app = open_page(more, "reports", {"table": title})
        assert not app.exception, report
        shown[report] = page_text(app)
    assert all(value in shown["table_19"] for value in ("80", "0.900", "0.463"))
    assert "+0.463" not in shown["table_19"]
    assert "0.7123" in shown["table_20"]
    assert "Needs this encoder." in shown["comparison"]


def test_published_values_are_chosen_by_table_and_language_together(open_page, small_warehouse: Path):
    def counted(app) -> list[str]:
        return [metric.value for metric in app.metric]

    app = open_page(small_warehouse, "compare")
    assert counted(app) == ["4", "2", "1 of 1", "1 of 1"]
    app.multiselect(key="languages").select("zh").run()
    assert counted(app) == ["2", "1", "1 of 1", "1 of 1"]
    assert "Needs this encoder." in page_text(app)
    assert "Needs labels." not in page_text(app)
    app.multiselect(key="tables").select("19").run()
    assert not app.exception
    assert "choose others" in page_text(app)


@pytest.mark.parametrize("view", VIEWS)
def test_a_page_renders_within_two_seconds_on_a_hundred_samples(view: str, open_page, large_warehouse: Path):
    app = open_page(large_warehouse, view)
    seconds = []
    # Again when it was slow, because other processes share the machine.
    while len(seconds) < 3 and min(seconds, default=math.inf) >= SECONDS_PER_PAGE:
        st.cache_data.clear()
        started = time.perf_counter()
        app.run()
        seconds.append(time.perf_counter() - started)
    assert not app.exception
    assert min(seconds) < SECONDS_PER_PAGE, f"{view}: {', '.join(f'{second:.2f}' for second in seconds)} s"


@pytest.mark.parametrize("view", VIEWS)
def test_no_page_shows_a_missing_value_as_anything_but_an_em_dash(view: str, open_page, single_motion_warehouse: Path):
    app = open_page(single_motion_warehouse, view)
    assert not app.exception
    for body in html_bodies(app):
        assert not {"nan", "none", "null", "nat", "<na>"} & set(read_html(body)[0].lower().split())
    for kind, proto in elements(app):
        if kind == "vega_lite_chart":
            assert "NaN" not in proto.spec


@pytest.mark.parametrize("view", VIEWS)
def test_the_snapshot_and_its_age_stand_on_every_page(view: str, small_page):
    text = page_text(small_page(view))
    assert "Snapshot build-synthetic" in text
    assert "Published 3 hours ago" in text


@pytest.mark.parametrize("view", VIEWS)
def test_every_figure_and_table_offers_its_numbers_and_its_sql(view: str, small_page, small_warehouse: Path):
    app = small_page(view)
    charts = sum(kind == "vega_lite_chart" for kind, _ in elements(app))
    downloads = [proto for kind, proto in elements(app) if kind == "download_button"]
    statements = [code.value for code in app.code]
    assert len(downloads) == len(statements)
    if view != "sql":
        assert downloads
    if charts:
        assert downloads
    for statement in statements:
        execute(snapshot_of(small_warehouse), statement, {}, seconds=30.0, max_rows=1)


# What models or an archive wrote may stand in these: escaped HTML, plain text, data, or the URL of a link.
PLAIN_PLACES = {
    "html",
    "code",
    "dataframe",
    "vega_lite_chart",
    "page_link",
    "download_button",
    "selectbox",
    "multiselect",
    "text_area",
}


@pytest.mark.parametrize("view", VIEWS)
def test_text_of_models_and_archives_is_nowhere_read_as_markup(view: str, open_page, hostile_warehouse: Path):
    app = open_page(hostile_warehouse, view)
    assert not app.exception
    places = {kind for kind, proto in elements(app) if MARKER in str(proto)}
    assert places <= PLAIN_PLACES
    if view != "sql":
        assert "html" in places
    for kind, proto in elements(app):
        if kind in ("selectbox", "multiselect", "text_area", "page_link", "download_button"):
            assert MARKER not in proto.label
            assert MARKER not in proto.help
        if kind in ("selectbox", "multiselect"):
            assert not any("\u202e" in option or "\n" in option for option in proto.options)
    for body in html_bodies(app):
        _, tags = read_html(body)
        assert {tag for tag, _ in tags}.isdisjoint({"script", "img", "i", "a", "iframe", "object"})
        assert not any(name.startswith("on") for _, attributes in tags for name in attributes)


def test_a_transcript_shows_hostile_text_letter_by_letter(open_page, hostile_warehouse: Path):
    text = page_text(open_page(hostile_warehouse, "transcripts"))
    for piece in (
        f"<script>alert('{MARKER}')</script><img src=x onerror=alert(1)>",
        f"**{MARKER}** _em_ `code` # title",
        f"${MARKER}$ and $$x^2$$ :smile: :red[{MARKER}]",
        "U+202Egnp.exeU+202C",
    ):
        assert piece in text


def test_a_link_opens_its_session_and_marks_its_argument(open_page, small_warehouse: Path):
    session = "S0003-ar-diversity-r1"
    app = open_page(small_warehouse, "transcripts", {"session": session, "argument": f"{session}/4/2"})
    assert session in page_text(app)
    marked = [
        attributes
        for body in html_bodies(app)
        for _, attributes in read_html(body)[1]
        if "here" in (attributes.get("class") or "").split()
    ]
    assert len(marked) == 1
    assert app.query_params["session"] == session


def test_choosing_another_language_opens_its_session_and_puts_it_into_the_address(open_page, small_warehouse: Path):
    app = open_page(small_warehouse, "transcripts")
    assert app.query_params["session"] == "S0001-en-baseline-r1"
    app.selectbox(key="transcript_language").set_value("ar").run()
    assert not app.exception
    assert app.query_params["session"] == "S0001-ar-baseline-r1"
    arabic = [
        attributes
        for body in html_bodies(app)
        for _, attributes in read_html(body)[1]
        if attributes.get("lang") == "ar"
    ]
    assert arabic
    assert all(attributes["dir"] == "rtl" for attributes in arabic)


@pytest.mark.parametrize("session", ["no such session", "'; drop table marts.sessions; --", "<script>x</script> **b**"])
def test_a_link_to_an_unknown_session_says_so_and_shows_another(session: str, open_page, small_warehouse: Path):
    app = open_page(small_warehouse, "transcripts", {"session": session})
    assert not app.exception
    assert "no session" in page_text(app)
    assert "S0001-en-baseline-r1" in page_text(app)


def test_two_sessions_that_claim_one_repeat_are_both_reachable(open_page, small_warehouse: Path, tmp_path: Path):
    doubled = tmp_path / "doubled.duckdb"
    shutil.copy(small_warehouse, doubled)
    with duckdb.connect(str(doubled)) as connection:
        connection.execute(
            "insert into marts.sessions select * replace ('S0001-en-again' as session_id) from marts.sessions "
            "where session_id = 'S0001-en-baseline-r1'"
        )
    app = open_page(doubled, "transcripts", {"session": "S0001-en-again"})
    assert app.query_params["session"] == "S0001-en-again"
    app.selectbox(key="transcript_session_id").set_value("S0001-en-baseline-r1").run()
    assert app.query_params["session"] == "S0001-en-baseline-r1"


def test_what_an_archive_may_leave_out_is_an_em_dash(open_page, small_warehouse: Path, tmp_path: Path):
    sparse = tmp_path / "sparse.duckdb"
    shutil.copy(small_warehouse, sparse)
    with duckdb.connect(str(sparse)) as connection:
        for table, columns in {
            "turns": "phase role side agent model_id sentence_count expected_sentences text_length length_unit",
            "sessions": "motion_text status",
            "arguments": "warrant evidence_or_example argument_type agent role side phase",
            "max_prior_pairs": "agent nearest_agent same_agent same_side",
        }.items():
            nothing = ", ".join(f"{column} = null" for column in columns.split())
            connection.execute(f"update marts.{table} set {nothing}")
    for view in ("overview", "transcripts", "pairs"):
        app = open_page(sparse, view)
        assert not app.exception
        assert not {"nan", "none", "null"} & set(page_text(app).lower().split())
        for box in app.selectbox:
            assert "None" not in box.options


def test_an_argument_without_a_pair_shows_an_em_dash_and_the_reason(small_page):
    app = small_page("transcripts")
    first_turn = next(body for body in html_bodies(app) if "Turn 1<" in body)
    assert "mean similarity — (no earlier turn)" in read_html(first_turn)[0]
    assert "no earlier argument to compare with" in read_html(first_turn)[0]


def test_a_turn_whose_extraction_failed_says_so(open_page, large_warehouse: Path):
    with duckdb.connect(str(large_warehouse), read_only=True) as connection:
        session, turn = connection.execute(
            "select session_id, turn_index from marts.extraction_failures limit 1"
        ).fetchone()
    app = open_page(large_warehouse, "transcripts", {"session": session})
    shown = next(body for body in html_bodies(app) if f"Turn {turn}<" in body)
    assert "could not be parsed" in read_html(shown)[0]


def test_too_few_motions_are_stated_where_intervals_are_shown(small_page):
    for view in ("language_gaps", "condition_effects", "agents_and_turns", "explore", "robustness", "reports"):
        assert "10 motions, fewer than 20" in page_text(small_page(view))


def test_enough_motions_are_not_called_too_few(open_page, large_warehouse: Path):
    assert "fewer than 20" not in page_text(open_page(large_warehouse, "language_gaps"))


def test_a_missing_interval_gives_its_reason(open_page, single_motion_warehouse: Path):
    for view in ("language_gaps", "condition_effects", "agents_and_turns"):
        assert "One motion cannot be resampled." in page_text(open_page(single_motion_warehouse, view))


def test_the_forest_plot_shows_the_estimates_of_the_warehouse(small_page, small_warehouse: Path):
    app = small_page("language_gaps")
    shown = sorted(round(row["estimate"], 9) for spec in _specs(app) for row in _rows(spec) if "estimate" in row)
    expected = _column(
        small_warehouse,
        "select round(estimate, 9) from marts.gap_estimates where contrast = 'language_gap' and condition = 'baseline' "
        "and field = 'claim' and aggregate = 'agent_mean' order by 1",
    )
    assert sorted({*shown}) == expected


def test_choosing_a_field_and_an_aggregate_changes_the_estimates(open_page, small_warehouse: Path):
    app = open_page(small_warehouse, "language_gaps", {"field": "claim + warrant", "aggregate": "mean over turns"})
    shown = {round(row["estimate"], 9) for spec in _specs(app) for row in _rows(spec) if "estimate" in row}
    expected = _column(
        small_warehouse,
        "select round(estimate, 9) from marts.gap_estimates where contrast = 'language_gap' and condition = 'baseline' "
        "and field = 'claim_warrant' and aggregate = 'turn_mean'",
    )
    assert shown == set(expected)


def test_published_values_are_laid_under_the_estimates_on_demand(open_page, small_warehouse: Path):
    app = open_page(small_warehouse, "language_gaps")
    assert "bge-m3 (published only)" not in page_text(app)
    app.toggle(key="published").set_value(True).run()
    assert not app.exception
    assert "bge-m3 (published only)" in page_text(app)
    assert 0.053 in [row.get("estimate") for spec in _specs(app) for row in _rows(spec)]


def test_encoders_keep_their_colour_from_page_to_page(small_page):
    specs = [json.dumps(_specs(small_page(view))) for view in ("language_gaps", "condition_effects")]
    for colour in ("#c07a1f", "#6b4c9a"):
        assert all(colour in spec for spec in specs)


def test_tail_thresholds_are_percentiles_of_the_pooled_languages(small_warehouse: Path):
    parameters = {
        "languages": ["en", "zh"],
        "condition": "baseline",
        "extractor": "sample-extractor",
        "encoder": "use-multilingual-v3",
        "field": "claim",
    }
    values = {
        language: np.array(
            _column(
                small_warehouse,
                "select similarity from marts.max_prior_pairs where condition = 'baseline' and field = 'claim' "
                f"and encoder = 'use-multilingual-v3' and language = '{language}'",
            )
        )
        for language in ("en", "zh")
    }
    cuts = np.percentile(np.concatenate(list(values.values())), [80, 90, 95])
    shown = [row[1] for row in _run(small_warehouse, "pair_thresholds", parameters)]
    assert shown == pytest.approx(cuts, abs=1e-12)
    for language, count, mean, *shares in _run(small_warehouse, "pair_tail_rates", parameters):
        assert count == len(values[language])
        assert mean == pytest.approx(values[language].mean())
        assert shares == pytest.approx([(values[language] >= cut).mean() for cut in cuts])
    counts = {"en": 0, "zh": 0}
    for language, low, count, share in _run(small_warehouse, "pair_histogram", {**parameters, "bin_width": 0.02}):
        inside = np.floor(values[language] / 0.02) == round(low / 0.02)
        assert count == inside.sum()
        assert share == pytest.approx(inside.mean())
        counts[language] += count
    assert counts == {language: len(of_language) for language, of_language in values.items()}


def test_a_trajectory_weighs_every_motion_alike(small_warehouse: Path, tmp_path: Path):
    repeated = tmp_path / "repeated.duckdb"
    shutil.copy(small_warehouse, repeated)
    with duckdb.connect(str(repeated)) as connection:
        connection.execute(
            "insert into marts.turn_similarity select * replace (session_id || 'b' as session_id, 2 as repeat, 0.1 as "
            "mean_arg_max_prev) from marts.turn_similarity where motion_id = 'S0001' and "
            "turn_index = 4"
        )
        connection.execute(
            "insert into marts.sessions select * replace (session_id || 'b' as session_id, 2 as repeat) "
            "from marts.sessions where motion_id = 'S0001'"
        )
        # A session outside the analysis is in the marts but in no curve.
        connection.execute(
            "insert into marts.turn_similarity select * replace (session_id || 'c' as session_id, 0.9 as "
            "mean_arg_max_prev) from marts.turn_similarity where motion_id = 'S0002' and turn_index = 4"
        )
        connection.execute(
            "insert into marts.sessions select * replace (session_id || 'c' as session_id, false as in_analysis) "
            "from marts.sessions where motion_id = 'S0002'"
        )
        rows = connection.execute(
            "select motion_id, mean_arg_max_prev from marts.turn_similarity where language = 'zh' and turn_index = 4 "
            "and condition = 'baseline' and encoder = 'use-multilingual-v3' and field = 'claim' "
            "and session_id not like '%c'"
        ).fetchall()
    by_motion: dict[str, list[float]] = {}
    for motion, value in rows:
        by_motion.setdefault(motion, []).append(value)
    expected = statistics.mean(statistics.mean(values) for values in by_motion.values())
    shown = {
        (language, turn): (mean, motions)
        for language, turn, mean, motions in _run(
            repeated,
            "trajectories",
            {
                "condition": "baseline",
                "extractor": "sample-extractor",
                "encoder": "use-multilingual-v3",
                "field": "claim",
                "variant": "raw",
            },
        )
    }
    assert len(rows) == 11
    assert shown["zh", 4] == (pytest.approx(expected), 10)
    assert shown["zh", 1] == (None, 0)


def test_the_spread_over_motions_is_that_of_the_paired_differences(small_warehouse: Path):
    gaps = np.array(
        _column(
            small_warehouse,
            "select gap from marts.language_gaps where language = 'zh' and condition = 'baseline' and field = 'claim' "
            "and encoder = 'use-multilingual-v3'",
        )
    )
    rows = _run(
        small_warehouse,
        "motion_gaps",
        {
            "condition": "baseline",
            "extractor": "sample-extractor",
            "field": "claim",
            "variant": "raw",
            "aggregate": "agent_mean",
        },
    )
    row = next(row for row in rows if row[:2] == ("use-multilingual-v3", "zh"))
    assert row[2:4] == (len(gaps), (gaps > 0).sum())
    assert row[4:] == pytest.approx(np.percentile(gaps, [0, 25, 50, 75, 100]))


@pytest.mark.parametrize(
    ("contrast", "condition", "where"),
    [
        ("language_gap", "baseline", "aggregate = 'agent_mean'"),
        ("agent_contrast", "baseline", "agent = 'agent_c' and reference_agent = 'agent_b'"),
        ("condition_effect", "diversity", "aggregate = 'turn_mean'"),
        ("gap_reduction", "diversity", "aggregate = 'agent_mean'"),
    ],
)
def test_the_contrast_explorer_shows_every_motion_behind_its_estimates(
    contrast: str, condition: str, where: str, open_page, small_warehouse: Path
):
    app = open_page(small_warehouse, "explore")
    app.selectbox(key="contrast").set_value(contrast).run()
    if contrast == "agent_contrast":
        app.selectbox(key="agent").set_value("agent_c − agent_b").run()
    if "turn_mean" in where:
        app.selectbox(key="aggregate").set_value("turn_mean").run()
    assert not app.exception
    choice = (
        f"contrast = '{contrast}' and condition = '{condition}' and encoder = 'multilingual-e5-small' and "
        f"field = 'claim' and {where}"
    )
    rows = [row for spec in _specs(app) for row in _rows(spec)]
    expected = _column(small_warehouse, f"select round(estimate, 9) from marts.gap_estimates where {choice}")
    assert sorted({round(row["estimate"], 9) for row in rows if "estimate" in row}) == sorted(expected)
    table = app.dataframe[0].value
    by_language = _run_sql(
        small_warehouse,
        f"select l.name, motion_id, difference from marts.motion_contrasts join marts.languages l using (language) "
        f"where {choice}",
    )
    assert sorted(zip(table["Language"], table["Motion"], table["Difference"], strict=True)) == sorted(by_language)
    for _, ranked in table.groupby("Language"):
        assert ranked.sort_values("Rank")["Difference"].is_monotonic_increasing
    for language in {name for name, _, _ in by_language}:
        assert statistics.mean(value for name, _, value in by_language if name == language) == pytest.approx(
            next(row["estimate"] for row in rows if row.get("name") == language)
        )


def test_a_choice_that_the_next_contrast_lacks_falls_back_to_one_it_has(open_page, small_warehouse: Path):
    app = open_page(small_warehouse, "explore", {"condition": "baseline", "aggregate": "mean over turns"})
    app.selectbox(key="contrast").set_value("gap_reduction").run()
    assert not app.exception
    app.selectbox(key="contrast").set_value("agent_gap").run()
    assert not app.exception
    assert "Condition: baseline" in page_text(app)
    assert len(app.dataframe) == 1


def test_the_contrast_explorer_asks_for_a_language_when_none_is_chosen(open_page, small_warehouse: Path):
    app = open_page(small_warehouse, "explore")
    app.multiselect(key="language_gap_languages").set_value([]).run()
    assert not app.exception
    assert "at least one language" in page_text(app)


def test_the_robustness_page_names_dropped_columns_and_singular_fits(small_page):
    text = page_text(small_page("robustness"))
    assert "depend on the columns before them: sentence_count, side[pro]." in text
    assert "at its boundary or not determined for French:" in text


def test_the_robustness_page_draws_the_coefficients_of_every_specification(small_page, small_warehouse: Path):
    drawn = {
        round(row["estimate"], 9)
        for spec in _specs(small_page("robustness"))
        for row in _rows(spec)
        if "estimate" in row
    }
    for table, where in (
        ("regression_estimates", "encoder = 'multilingual-e5-small' and term = 'language'"),
        ("tail_rates", "encoder = 'multilingual-e5-small' and quantity = 'difference' and condition = 'baseline'"),
        ("encoder_agreement", "condition = 'baseline'"),
    ):
        rows = _column(
            small_warehouse, f"select round(estimate, 9) from marts.{table} where field = 'claim' and {where}"
        )
        assert rows
        assert set(rows) <= drawn


def test_repeat_noise_is_shown_when_there_are_repeats_and_explained_when_there_are_none(
    open_page, small_page, small_warehouse: Path, tmp_path: Path
):
    without = page_text(small_page("robustness"))
    assert "debated more than once, so repeats cannot be compared" in without
    assert "Repeated debates" not in without
    repeated = tmp_path / "repeated.duckdb"
    shutil.copy(small_warehouse, repeated)
    with duckdb.connect(str(repeated)) as connection:
        connection.execute(
            "update marts.repeat_noise set estimate = 0.0123, ci_low = 0.011, ci_high = 0.014, interval_note = null"
        )
    shown = page_text(open_page(repeated, "robustness"))
    assert "Repeated debates" in shown
    assert "0.0123" in shown
    assert "repeats cannot be compared" not in shown


def test_one_encoder_alone_has_nothing_to_agree_with(open_page, small_warehouse: Path, tmp_path: Path):
    alone = tmp_path / "alone.duckdb"
    shutil.copy(small_warehouse, alone)
    with duckdb.connect(str(alone)) as connection:
        connection.execute("delete from marts.encoder_agreement")
    app = open_page(alone, "robustness")
    assert not app.exception
    assert "nothing can agree with multilingual-e5-small" in page_text(app)


def test_the_pair_explorer_filters_and_links_to_the_debate(open_page, small_warehouse: Path):
    app = open_page(small_warehouse, "pairs", {"side": "same side", "order": "lowest first"})
    assert not app.exception
    lowest, session = _run_sql(
        small_warehouse,
        "select similarity, session_id from marts.max_prior_pairs where language in ('en', 'zh') and same_side and "
        "condition = 'baseline' and field = 'claim' and encoder = 'multilingual-e5-small' order by 1 limit 1",
    )[0]
    table = app.dataframe[0].value
    assert table["Similarity"].iloc[0] == pytest.approx(lowest)
    links = [proto for kind, proto in elements(app) if kind == "page_link" and "debate" in proto.label]
    assert len(links) == 1
    assert session in links[0].query_string


def test_the_pair_explorer_asks_for_a_language_when_none_is_chosen(open_page, small_warehouse: Path):
    app = open_page(small_warehouse, "pairs")
    app.multiselect(key="languages").set_value([]).run()
    assert not app.exception
    assert "at least one language" in page_text(app)


def _ask_on_the_sql_page(app: AppTest, sql: str) -> AppTest:
    app.text_area(key="statement").set_value(sql)
    return app.button[0].click().run()


def test_the_sql_page_answers(open_page, small_warehouse: Path):
    app = _ask_on_the_sql_page(
        open_page(small_warehouse, "sql"), "select count(*) as n, null as nothing from marts.sessions"
    )
    assert not app.exception
    assert app.dataframe[0].value["n"].tolist() == [120]
    assert "1 row." in page_text(app)


@pytest.mark.parametrize(
    "sql",
    [
        "drop table marts.sessions",
        "select 1; select 2",
        "attach 'x.duckdb'",
        "copy marts.sessions to 'x.csv'",
        "select * from read_text('/etc/hostname')",
        "select * from '**bold**<script>'",
        "selekt <script> **bold**",
    ],
)
def test_the_sql_page_refuses_in_words_that_are_not_read_as_markup(sql: str, open_page, small_warehouse: Path):
    app = _ask_on_the_sql_page(open_page(small_warehouse, "sql"), sql)
    assert not app.exception
    assert "problem" in _note_kinds(app)
    assert len(app.dataframe) == 0
    assert len(app.error) == len(app.markdown) == 0
    assert "script" not in {tag for body in html_bodies(app) for tag, _ in read_html(body)[1]}


def test_the_sql_page_cuts_a_long_answer_and_says_so(open_page, small_warehouse: Path):
    app = _ask_on_the_sql_page(open_page(small_warehouse, "sql"), "select * from marts.max_prior_pairs")
    assert len(app.dataframe[0].value) == SHOWN_ROWS
    assert "there are more" in page_text(app)


def test_the_sql_page_shows_every_type_and_twice_named_columns(open_page, small_warehouse: Path):
    app = open_page(small_warehouse, "sql")
    for sql in (
        "from test_all_types()",
        'select 1 as a, 2 as a, 3 as "a (2)"',
        "select 'NaN'::double as x, 'inf'::double as y",
    ):
        app = _ask_on_the_sql_page(app, sql)
        assert not app.exception
        assert "problem" not in _note_kinds(app)


def test_the_sql_page_shows_a_plan_line_by_line(open_page, small_warehouse: Path):
    app = _ask_on_the_sql_page(open_page(small_warehouse, "sql"), "explain select * from marts.sessions")
    assert not app.exception
    assert "\n" in app.code[0].value


def test_a_statement_that_came_with_a_link_waits_in_the_editor(open_page, small_warehouse: Path):
    app = open_page(small_warehouse, "sql", {"sql": "select 42 as answer"})
    assert app.text_area(key="statement").value == "select 42 as answer"
    assert len(app.dataframe) == 0
    assert app.button[0].click().run().dataframe[0].value["answer"].tolist() == [42]


def test_the_schema_browser_shows_the_meaning_of_columns(small_page):
    text = page_text(small_page("sql"))
    assert "marts.gap_estimates" in text
    assert "Mean paired difference over motions; positive = higher similarity." in text


def test_a_new_build_is_shown_at_the_next_run(lake_with, small_warehouse: Path, single_motion_warehouse: Path):
    lake_with(small_warehouse)
    app = AppTest.from_file(str(APP), default_timeout=60).run()
    assert app.metric[1].value == "120"
    lake_with(single_motion_warehouse)
    assert app.run().metric[1].value == "12"


def test_a_snapshot_removed_during_a_run_starts_the_run_again(
    lake_with, small_warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    lake_with(small_warehouse)
    newest = warehouse.current_snapshot
    removed = [Snapshot(tmp_path / "removed.duckdb", "removed")]
    monkeypatch.setattr(warehouse, "current_snapshot", lambda: removed.pop() if removed else newest())
    app = AppTest.from_file(str(APP), default_timeout=60).run()
    assert not app.exception
    assert removed == []
    assert app.metric[1].value == "120"


def test_values_come_in_the_studys_order_and_the_rest_by_the_alphabet():
    assert ordered(["zh", "xx", "en", "ar", "en"], ["en", "ar", "zh"]) == ("en", "ar", "zh", "xx")
    assert ordered(["b", "a"], None) == ("a", "b")


def test_all_queries_are_small_at_scale(large_warehouse: Path):
    assert len(_run(large_warehouse, "transcript_motions", {"language": "en"})) == 1000
    assert math.isclose(len(_run(large_warehouse, "measures", {})), 6)


def _run(path: Path, name: str, parameters: dict) -> tuple:
    return execute(snapshot_of(path), read_query(name), parameters, seconds=30.0, max_rows=100_000)[1]


def _run_sql(path: Path, sql: str) -> list:
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def _column(path: Path, sql: str) -> list:
    return [row[0] for row in _run_sql(path, sql)]


def _note_kinds(app: AppTest) -> set[str]:
    classes = [
        (attributes.get("class") or "").split() for body in html_bodies(app) for _, attributes in read_html(body)[1]
    ]
    return {names[1] for names in classes if names[:1] == ["rp-note"]}


def _specs(app: AppTest) -> list[dict]:
    return [json.loads(proto.spec) for kind, proto in elements(app) if kind == "vega_lite_chart"]


def _rows(spec: dict) -> list[dict]:
    """The inline data of a chart, each named data set once."""
    rows = [row for data in spec.get("datasets", {}).values() for row in data]
    for layer in [spec, *spec.get("layer", [])]:
        rows += layer.get("data", {}).get("values", [])
    return rows


def test_the_repetition_page_shows_agents_groups_and_what_comes_back(open_page, small_warehouse: Path, tmp_path: Path):
    changed = tmp_path / "changed.duckdb"
    shutil.copy(small_warehouse, changed)
    with duckdb.connect(str(changed)) as connection:
        session, text = connection.execute(
            "select session_id, text from marts.turns where turn_index = 2 and condition = 'baseline' limit 1"
        ).fetchall()[0]
        connection.execute("update marts.turns set text = ? where session_id = ? and turn_index = 5", [text, session])
        agents = connection.execute("select distinct agent from marts.agent_similarity").fetchall()
        (most,) = connection.execute(
            "with scored as (select * from marts.max_prior_pairs semi join (from marts.sessions where in_analysis) "
            "using (session_id) where condition = 'baseline' and encoder = 'multilingual-e5-small' and field = 'claim' "
            "and similarity is not null) select count(*) as n from scored "
            "where similarity >= (select quantile_cont(similarity, 0.9) from scored) "
            "group by nearest_argument_id order by n desc limit 1"
        ).fetchall()[0]
    app = open_page(changed, "repetition")
    assert not app.exception
    by_agent, by_group, arguments, turns = [_table_rows(body) for body in html_bodies(app) if "<table" in body]
    assert {row[1] for row in by_agent} == {agent for (agent,) in agents}
    assert len(by_group) == 2 * (len(agents) - 1)
    assert arguments[0][1] == str(most)
    assert [row[:3] for row in turns] == [[session, "5", "2"]]


def _table_rows(table: str) -> list[list[str]]:
    """The cells of a table's body."""
    rows = re.findall(r"<tr>(.*?)</tr>", table.partition("<tbody>")[2], re.DOTALL)
    return [[read_html(cell)[0] for cell in re.findall(r"<td.*?</td>", row, re.DOTALL)] for row in rows]
