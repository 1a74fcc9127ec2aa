"""Diagnostics and motion sets against the same figures counted in Python, on the known lake and on made-up tables."""

import hashlib
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from scipy.stats import spearmanr

from tests.dbt.dbt_runs import Built


def run_model(built: Built, model: str, tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """What a mart's compiled SQL makes of `tables`, which stand in for all that it reads."""
    (path,) = (built.dbt.target / "compiled").glob(f"*/models/marts/{model}.sql")
    with duckdb.connect() as database:
        database.execute("create schema marts; attach ':memory:' as scratch; create schema scratch.intermediate")
        for name, frame in tables.items():
            schema = "scratch.intermediate" if name.startswith("int_") else "marts"
            database.register("given", frame)
            database.execute(f"create table {schema}.{name} as from given")
            database.unregister("given")
        return database.sql(Path(path).read_text(encoding="utf-8")).df()


STUDY = pd.DataFrame(
    {
        "reference_language": ["en"],
        "baseline_condition": ["baseline"],
        "encoders": [["first", "second"]],
        "fields": [["claim"]],
        "primary_extractor": ["x"],
        "seed": [42],
    }
)


def sessions(
    motions: list[str], languages: tuple[str, ...], conditions: tuple[str, ...], repeats: int = 1
) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "session_id": f"{motion}-{language}-{condition}-{repeat}",
                "motion_id": motion,
                "language": language,
                "condition": condition,
                "repeat": repeat,
                "in_analysis": True,
            }
            for motion, language, condition, repeat in product(motions, languages, conditions, range(1, repeats + 1))
        ]
    )


def gaps(motions: list[str], extractors: dict[str, list[str]], encoder: str = "first") -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "motion_id": motion,
                "language": "zh",
                "condition": "baseline",
                "extractor": extractor,
                "encoder": encoder,
                "field": "claim",
                "variant": "raw",
                # Not in the order of the names.
                "gap": (motions.index(motion) * 7 % len(motions)) / 100,
            }
            for extractor, answered in extractors.items()
            for motion in answered
        ]
    )


def reviews(motions: list[str], flags: dict[tuple[str, str], bool | None]) -> pd.DataFrame:
    rows = [
        {"motion_id": motion, "language": language, "qa_flagged": flags.get((motion, language))}
        for motion, language in product(motions, ("en", "zh", "ar"))
    ]
    return pd.DataFrame(rows).astype({"qa_flagged": "boolean"})


def members(sets: pd.DataFrame) -> dict[str, set[str]]:
    return {name: set(rows) for name, rows in sets.groupby("motion_set")["motion_id"]}


def test_ten_motions_of_each_tertile_are_drawn_from_those_that_every_extractor_answered(built: Built) -> None:
    motions = [f"M{number:03}" for number in range(71)]
    tables = {
        "study": STUDY,
        "sessions": sessions(motions, ("en", "zh"), ("baseline",)),
        "motions": reviews(motions, {}),
    }
    sets = run_model(built, "motion_sets", tables | {"language_gaps": gaps(motions, {"x": motions})})
    drawn = sets[sets["motion_set"] == "second_extractor_zh"]
    ranked = sorted(motions, key=lambda motion: motions.index(motion) * 7 % 71)
    tertiles = {"low": ranked[:24], "middle": ranked[24:48], "high": ranked[48:]}
    by_hash = {
        stratum: set(sorted(group, key=lambda motion: hashlib.md5(f"42 {motion}".encode()).hexdigest())[:10])
        for stratum, group in tertiles.items()
    }
    assert {name: set(rows) for name, rows in drawn.groupby("stratum")["motion_id"]} == by_hash

    # Those thirty re-extracted: the set stays what it was.
    thirty = sorted(set(drawn["motion_id"]))
    again = run_model(built, "motion_sets", tables | {"language_gaps": gaps(motions, {"x": motions, "other": thirty})})
    assert members(again)["second_extractor_zh"] == set(thirty)


def test_sets_without_flagged_motions_exist_where_translations_were_reviewed(built: Built) -> None:
    motions = ["M1", "M2", "M3", "M4"]
    flags = {("M1", "zh"): True, ("M2", "zh"): False, ("M3", "zh"): None, ("M4", "ar"): True}
    sets = run_model(
        built,
        "motion_sets",
        {
            "study": STUDY,
            "sessions": pd.concat(
                [
                    sessions(motions, ("en", "zh"), ("baseline", "diversity")),
                    sessions(["M1", "M4"], ("ar",), ("baseline",)),
                    sessions(["M2"], ("en", "zh"), ("p2_minimal",)),
                    # A decoding setting is no prompt that every motion would have to be debated under.
                    sessions(["M3"], ("en", "zh"), ("mistral temperature=0.2",)),
                ]
            ),
            "motions": reviews(motions, flags),
            "language_gaps": gaps(motions, {"x": motions}),
        },
    )
    assert members(sets) == {
        "all": {"M1", "M2", "M3", "M4"},
        "excl_zh_flagged": {"M2", "M3", "M4"},
        "excl_ar_flagged": {"M1"},
        "excl_any_flagged": {"M2", "M3"},
        "second_extractor_zh": {"M1", "M2", "M3", "M4"},
        "ablation_zh": {"M2"},
    }


def test_motions_debated_more_than_once_in_both_languages_are_the_repeat_set(built: Built) -> None:
    several = sessions(["M1", "M2"], ("en", "zh"), ("baseline",), repeats=2)
    once = sessions(["M3"], ("en", "zh"), ("baseline",))
    without_english = several[(several["motion_id"] != "M2") | (several["language"] != "en") | (several["repeat"] == 1)]
    sets = run_model(
        built,
        "motion_sets",
        {
            "study": STUDY,
            "sessions": pd.concat([without_english, once]),
            "motions": reviews(["M1", "M2", "M3"], {}),
            "language_gaps": gaps(["M1", "M2", "M3"], {"x": ["M1", "M2", "M3"]}),
        },
    )
    assert members(sets)["repeats_zh"] == {"M1"}
    assert not any(name.startswith("excl") for name in members(sets))


def test_a_motion_moves_from_its_first_repeat_to_its_mean(built: Built) -> None:
    level = {("M1", 1): 0.10, ("M1", 2): 0.02, ("M1", 3): 0.03, ("M2", 1): -0.04, ("M2", 2): 0.08, ("M2", 3): 0.08}
    frame = sessions(["M1", "M2"], ("en", "zh"), ("baseline",), repeats=3)
    frame = frame.assign(
        extractor="x", encoder="first", field="claim", variant="raw",
        agent_mean=[
            0.5 + (level[row.motion_id, row.repeat] if row.language == "zh" else 0.0) for row in frame.itertuples()
        ],
    )  # fmt: skip
    alone = sessions(["M3"], ("en", "zh"), ("baseline",)).assign(
        extractor="x", encoder="first", field="claim", variant="raw", agent_mean=0.5
    )
    moves = run_model(
        built, "repeat_gaps", {"study": STUDY, "session_similarity": pd.concat([frame, alone])}
    ).set_index(["motion_id", "repeat"])
    assert set(moves.index) == set(level)
    for key, gap in level.items():
        assert moves.loc[key, "gap"] == pytest.approx(gap)
    first = moves.xs(1, level="repeat")
    assert first.loc["M1", ["first_rank", "mean_rank"]].tolist() == [1, 1]
    assert moves.xs(2, level="repeat")["gap_rank"].to_dict() == {"M1": 2, "M2": 1}
    assert first["first_gap"].tolist() == pytest.approx([0.10, -0.04])
    assert first["mean_gap"].tolist() == pytest.approx([0.05, 0.04])
    assert first["changes_sign"].to_dict() == {"M1": False, "M2": True}


def test_decoding_compares_last_turns_of_equal_contexts_only(built: Built) -> None:
    conditions = ("deepseek temperature=0.2", "deepseek temperature=1.0", "baseline")
    debates = sessions(["M1", "M2"], ("en", "zh"), conditions)
    # One continuation of M2 failed: the other setting has nothing to be compared with there.
    debates = debates[debates["session_id"] != "M2-en-deepseek temperature=0.2-1"]
    value = {("en", "0.2"): 0.50, ("en", "1.0"): 0.40, ("zh", "0.2"): 0.70, ("zh", "1.0"): 0.66}
    turns = pd.DataFrame(
        [
            {
                "session_id": row.session_id, "turn_index": turn, "extractor": "x", "encoder": "first",
                "field": "claim", "variant": "raw",
                "mean_arg_max_prev": value.get((row.language, row.condition[-3:]), 0.9) if turn == 5 else 0.1,
            }
            for row in debates.itertuples()
            for turn in (4, 5)
        ]
    )  # fmt: skip
    found = run_model(built, "decoding_contrasts", {"study": STUDY, "sessions": debates, "turn_similarity": turns})
    rows = {
        (row.contrast, row.language, row.condition[-3:], row.motion_id): row.difference for row in found.itertuples()
    }
    assert rows == {
        ("decoding_effect", "en", "0.2", "M1"): pytest.approx(0.10),
        ("decoding_effect", "zh", "0.2", "M1"): pytest.approx(0.04),
        ("decoding_effect", "zh", "0.2", "M2"): pytest.approx(0.04),
        ("language_gap", "zh", "0.2", "M1"): pytest.approx(0.20),
        ("language_gap", "zh", "1.0", "M1"): pytest.approx(0.26),
        ("language_gap", "zh", "1.0", "M2"): pytest.approx(0.26),
    }
    assert set(found["agent"]) == {"deepseek"}


def analysed_turns(warehouse: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    return warehouse.sql(
        "select turns.* from marts.turns join marts.sessions using (session_id) where in_analysis"
    ).df()


def test_the_sentence_audit_counts_the_turns_of_each_language_and_condition(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    turns = analysed_turns(warehouse)
    turns["deviation"] = turns["sentence_count"] - turns["expected_sentences"]
    turns["sentence_length"] = turns["text_length"] / turns["sentence_count"]
    audit = warehouse.sql("from marts.sentence_audit where motion_set = 'all'").df()
    audit = audit.set_index(["language", "condition"])
    groups = turns.groupby(["language", "condition"])
    assert set(audit.index) == set(groups.groups)
    for key, rows in groups:
        found = audit.loc[key]
        assert found["n_turns"] == found["n_expected"] == len(rows)
        assert found["exact_rate"] == pytest.approx((rows["deviation"] == 0).mean())
        assert found["under_rate"] == pytest.approx((rows["deviation"] < 0).mean())
        assert found["over_rate"] == pytest.approx((rows["deviation"] > 0).mean())
        assert found["mean_sentence_length"] == pytest.approx(rows["sentence_length"].mean())
        # Where no answer was parsed there is no mean.
        counts = rows["n_arguments"].dropna().astype(float)
        assert float(found["mean_arguments"]) == pytest.approx(counts.mean(), nan_ok=True)


def test_rank_correlations_are_those_of_scipy_within_a_language(
    built: Built, warehouse: duckdb.DuckDBPyConnection
) -> None:
    # The texts of the known lake are all alike, so what they look like is made up here.
    debates, turns, scores, outcomes = (
        warehouse.sql(f"from marts.{name}").df() for name in ("sessions", "turns", "turn_similarity", "turns")
    )
    turns["sentence_count"] = [4 + (index * 7) % 3 for index in range(len(turns))]
    turns["text_length"] = [90 + (index * 13) % 11 for index in range(len(turns))]
    outcomes = outcomes.assign(extractor="main")
    found = run_model(
        built,
        "sentence_correlations",
        {"sessions": debates, "turns": turns, "turn_similarity": scores, "int_extraction_outcomes": outcomes},
    )
    turns["absolute_deviation"] = (turns["sentence_count"] - turns["expected_sentences"]).abs()
    joined = scores[(scores["variant"] == "raw") & scores["mean_arg_max_prev"].notna()].merge(
        turns[["session_id", "turn_index", "sentence_count", "absolute_deviation", "text_length"]]
    )
    joined = joined.merge(debates.loc[debates["in_analysis"], ["session_id"]])
    checked = 0
    for row in found[found["outcome"] == "similarity"].itertuples():
        part = joined.query(
            "language == @row.language and condition == @row.condition and extractor == @row.extractor"
            " and encoder == @row.encoder and field == @row.field"
        )
        assert row.n_turns == len(part)
        expected = spearmanr(part[row.sentence_measure], part["mean_arg_max_prev"]).statistic
        assert row.spearman == pytest.approx(expected, abs=1e-12), row
        checked += 1
    assert checked > 30
    counts = found[(found["outcome"] == "n_arguments") & (found["language"] == "zh")]
    assert set(counts["encoder"].isna()) == {True}


def test_a_constant_side_has_no_correlation_and_says_so(warehouse: duckdb.DuckDBPyConnection) -> None:
    rows = warehouse.sql(
        "select spearman, note from marts.sentence_correlations where sentence_measure = 'text_length'"
    ).fetchall()
    assert set(rows) == {(None, "Every turn has the same sentence measure.")}


def test_extraction_diagnostics_count_answers_and_arguments(built: Built, warehouse: duckdb.DuckDBPyConnection) -> None:
    expected: dict[tuple[str, str, str], dict[str, Any]] = {}
    for debate in built.lake.debates:
        if debate.n_turns < 8:
            continue
        for extractor, outcomes in debate.outcomes.items():
            cell = expected.setdefault(
                (debate.language, debate.condition, extractor), {"turns": 0, "failed": 0, "missing": 0, "counts": []}
            )
            cell["turns"] += 8
            answers = [outcomes.get(turn, "missing") for turn in range(1, 9)]
            cell["failed"] += answers.count("failed")
            cell["missing"] += answers.count("missing")
            cell["counts"] += [answer for answer in answers if isinstance(answer, int)]
    rows = warehouse.sql(
        """
        select
            language, condition, extractor, n_turns, n_failed, n_missing, n_parsed, n_arguments, mean_arguments,
            failure_rate, mean_claim_characters, empty_warrant_rate
        from marts.extraction_diagnostics where motion_set = 'all'
        """
    ).fetchall()
    assert {row[:3] for row in rows} == set(expected)
    for *key, turns, failed, missing, parsed, total, mean, failure_rate, characters, empty in rows:
        cell = expected[tuple(key)]
        counts = cell["counts"]
        assert (turns, failed, missing, parsed, total) == (
            cell["turns"], cell["failed"], cell["missing"], len(counts), sum(counts),
        )  # fmt: skip
        assert failure_rate == pytest.approx(failed / (turns - missing))
        if counts:
            assert (mean, characters, empty) == (pytest.approx(sum(counts) / len(counts)), len("A claim."), 1.0)
        else:
            assert (mean, characters, empty) == (None, None, None)


def test_off_schema_labels_are_those_that_the_prompt_does_not_offer(warehouse: duckdb.DuckDBPyConnection) -> None:
    labels = warehouse.sql(
        """
        select language, condition, extractor, argument_type_raw
        from marts.arguments join marts.sessions using (session_id, language, condition) where in_analysis
        """
    ).df()
    found = warehouse.sql("from marts.extraction_diagnostics where motion_set = 'all' and n_arguments > 0").df()
    for row in found.itertuples():
        part = labels.query(
            "language == @row.language and condition == @row.condition and extractor == @row.extractor"
        )["argument_type_raw"]
        # "unclear" is offered and " Moral " is a type; only the compound label is neither.
        assert row.off_schema_rate == pytest.approx((part == "historical|economic").mean())
        assert row.without_type_rate == pytest.approx((part == "").mean())
    assert found["off_schema_rate"].max() > 0


def test_shares_of_types_add_up_and_show_types_that_nobody_used(warehouse: duckdb.DuckDBPyConnection) -> None:
    groups = warehouse.sql(
        """
        select count(*), sum(share), sum(n_of_type) = any_value(n_arguments), min(n_of_type)
        from marts.argument_type_shares group by language, condition, extractor
        """
    ).fetchall()
    assert len(groups) > 3
    for n_types, total, adds_up, fewest in groups:
        assert (n_types, adds_up, fewest) == (10, True, 0)
        assert total == pytest.approx(1)


def test_the_volume_of_a_condition_is_compared_motion_by_motion(warehouse: duckdb.DuckDBPyConnection) -> None:
    turns = analysed_turns(warehouse).dropna(subset=["n_arguments"])
    per_session = turns.groupby(["motion_id", "language", "condition", "session_id"])["n_arguments"].mean()
    per_motion = per_session.groupby(["motion_id", "language", "condition"]).mean().unstack("condition").dropna()
    expected = per_motion["diversity"] - per_motion["baseline"]
    rows = warehouse.sql(
        "select motion_id, language, difference from marts.volume_contrasts "
        "where measure = 'n_arguments' and extractor = 'main'"
    ).fetchall()
    assert {row[:2]: row[2] for row in rows} == {key: pytest.approx(value) for key, value in expected.items()}
    means = warehouse.sql(
        "select language, estimate, mean_amount - reference_mean_amount from marts.output_volume "
        "where measure = 'n_arguments' and extractor = 'main'"
    ).fetchall()
    for language, estimate, difference in means:
        assert estimate == pytest.approx(expected.xs(language, level="language").mean())
        assert difference == pytest.approx(estimate)


def test_the_set_of_all_motions_has_the_estimates_of_the_whole_study(warehouse: duckdb.DuckDBPyConnection) -> None:
    columns = (
        "contrast, language, condition, extractor, encoder, field, aggregate, estimate, ci_low, ci_high, n_motions"
    )
    everything = warehouse.sql(
        f"select {columns} from marts.subset_gap_estimates where motion_set = 'all' order by all"
    ).fetchall()
    whole = warehouse.sql(
        f"select {columns} from marts.gap_estimates where variant = 'raw' and agent is null order by all"
    ).fetchall()
    assert everything == whole
    assert len(whole) > 20


def test_a_set_for_a_language_holds_its_contrasts_over_its_motions(warehouse: duckdb.DuckDBPyConnection) -> None:
    pairs = warehouse.sql(
        """
        select distinct motion_set, language from marts.subset_contrasts
        where motion_set like 'ablation%' or motion_set like 'excl_zh%'
        """
    ).fetchall()
    # Every Chinese translation is flagged here: nothing is left without them.
    assert set(pairs) == {("ablation_zh", "zh"), ("ablation_zh", "en"), ("ablation_ar", "en"), ("ablation_ar", "ar")}


def test_tables_19_and_23_stand_beside_the_published_figures(warehouse: duckdb.DuckDBPyConnection) -> None:
    audit = warehouse.sql(
        "select exact_rate, n_turns from marts.sentence_audit "
        "where motion_set = 'all' and language = 'zh' and condition = 'baseline'"
    ).fetchall()
    assert warehouse.sql(
        "select estimate, n_turns, published_estimate::varchar from reports.table_19 "
        "where language = 'zh' and condition = 'baseline' and measure = 'exact_rate'"
    ).fetchall() == [(*audit[0], "0.944")]
    percent = warehouse.sql(
        "select estimate, published_value from reports.table_23 "
        "where measure = 'empty_warrant_percent' and language = 'zh'"
    ).fetchall()
    assert percent == [(100.0, "45.0%")]


def test_the_comparison_has_every_published_cell_once_with_a_value_or_what_would_fill_it(
    warehouse: duckdb.DuckDBPyConnection,
) -> None:
    cells = warehouse.sql('select "table", "row", "column", value from reports.published_values').fetchall()
    shown = warehouse.sql('select "table", "row", "column", published_value from reports.comparison').fetchall()
    assert sorted(shown) == sorted(cells)
    gap, published, difference = warehouse.sql(
        """
        select estimate, published_estimate, difference from reports.comparison
        where "table" = '4' and "row" = 'bge-m3'
        """
    ).fetchall()[0]
    assert gap == warehouse.sql("select estimate from reports.table_04 where encoder = 'bge-m3'").fetchall()[0][0]
    assert difference == pytest.approx(gap - published)
    nothing = warehouse.sql("from reports.comparison where estimate is null and ci_low is null and note is null")
    assert nothing.fetchall() == []


def test_every_published_cell_of_one_language_says_which(warehouse: duckdb.DuckDBPyConnection) -> None:
    printed = warehouse.sql("""
        select "table", bool_and(comparison.language is not distinct from labels.code), count(*)
        from reports.comparison
        join reports.published_labels as labels
            on labels.kind = 'language' and labels.label in ("column", "row", split_part("row", ' | ', 2))
        group by all
    """).fetchall()
    assert sorted(printed, key=lambda row: int(row[0])) == [
        ("3", True, 15),
        ("5", True, 60),
        ("8", True, 18),
        ("20", True, 6),
        ("21", True, 15),
        ("26", True, 12),
        ("29", True, 8),
        ("34", True, 8),
    ]
    of_none = warehouse.sql("""
        select "table", list(distinct "column") from reports.comparison
        where language is null and "table" not in ('2', '27') group by all
    """).fetchall()
    assert {table: set(columns) for table, columns in of_none} == {
        "25": {"Motions"},
        "32": {"Total"},
        "33": {"Estimate", "Uncertainty"},
    }


def test_reports_without_their_data_say_what_they_need(warehouse: duckdb.DuckDBPyConnection) -> None:
    rows = warehouse.sql("select missing from reports.decoding").fetchall()
    assert len(rows) == 14
    assert all("decoding" in missing for (missing,) in rows)
    left_out = warehouse.sql("select distinct missing from reports.table_07 where motion_set = 'excl_M056'").fetchall()
    assert left_out == [("Leaves out a motion of the paper: name the motions of a study to choose.",)]


@pytest.mark.parametrize(
    ("report", "contrast", "motion_set", "where"),
    [
        ("table_07", "language_gap", "all", "motion_set = 'all' and quantity = 'language_gap'"),
        ("table_10", "language_gap", "ablation_zh", "condition = 'baseline'"),
        ("table_11", "condition_change", "ablation_zh", "condition = 'diversity'"),
    ],
)
def test_reports_on_sets_show_their_estimates_beside_the_published_ones(
    warehouse: duckdb.DuckDBPyConnection, report: str, contrast: str, motion_set: str, where: str
) -> None:
    shown = warehouse.sql(
        f"""
        select estimate, ci_low, ci_high, n_motions from reports.{report}
        where language = 'zh' and encoder = 'bge-m3' and published_value is not null and {where}
        """
    ).fetchall()
    estimated = warehouse.sql(
        f"""
        select estimate, ci_low, ci_high, n_motions from marts.subset_gap_estimates
        where contrast = '{contrast}' and motion_set = '{motion_set}' and language = 'zh' and encoder = 'bge-m3'
            and field = 'claim' and aggregate = 'agent_mean' and extractor = 'main'
            and condition = '{"diversity" if contrast == "condition_change" else "baseline"}'
        """
    ).fetchall()
    assert shown == estimated
    assert len(shown) == 1
