"""What the estimators of turns, pairs and repeats read from the marts, and the tables that come back."""

from collections import defaultdict
from itertools import combinations
from math import sqrt
from statistics import variance

import duckdb
import numpy as np
import pytest
from scipy.stats import spearmanr

from dagster_project.assets.estimates import TAIL_VALUES
from tests.dbt.by_hand import ROLE, ByHand, agent
from tests.dbt.dbt_runs import Built
from tests.dbt.test_dbt_marts import MEASURE, assert_same, rows

ESTIMATES = (
    "gap_estimates", "regression_estimates", "tail_rates", "encoder_agreement", "repeat_noise", "agreement",
    "extraction_audit_rates", "instrument_alignment", "calibration", "outcome_associations",
)  # fmt: skip


def test_regressions_read_the_scored_baseline_turns_of_the_analysis(
    warehouse: duckdb.DuckDBPyConnection, by_hand: ByHand
) -> None:
    sql = f"""
        select session_id, turn_index, {MEASURE}, variant, motion_id, language, agent, role, mean_arg_max_prev,
            n_arguments, prior_pool_size, mean_claim_length, empty_warrant_rate, empty_evidence_rate, sentence_count
        from marts.regression_turns
    """
    debates = {debate.session_id: debate for debate in by_hand.lake.debates if debate.n_turns == 8}
    # The lake's claims are "A claim.", without warrant and evidence, and its speeches have two sentences.
    expected = {
        (session, turn, *measure, "raw"): (
            debates[session].motion_id, debates[session].language, agent(turn), ROLE[turn], value, n, pool,
            8.0, 1.0, 1.0, 2,
        )
        for (session, turn, *measure), (value, _, n, pool) in by_hand.turns.items()
        if session in debates and debates[session].condition == "baseline" and value is not None
    }  # fmt: skip
    assert len(expected) > 100
    assert_same(rows(warehouse, sql, 6), expected)


def test_tails_read_every_pair_of_the_analysis_under_its_encoder(
    warehouse: duckdb.DuckDBPyConnection, by_hand: ByHand
) -> None:
    debates = {debate.session_id: debate for debate in by_hand.lake.debates if debate.n_turns == 8}
    expected = defaultdict(list)
    for (session, _, _, extractor, encoder, field), nearest in by_hand.lake.nearest.items():
        if nearest and session in debates:
            debate = debates[session]
            cell = (debate.condition, extractor, encoder, field, debate.motion_id, debate.language)
            expected[cell].append(nearest.similarity)
    found = defaultdict(list)
    for condition, extractor, encoder, field, scorer, motion, language, value in warehouse.sql(TAIL_VALUES).fetchall():
        if scorer == encoder:
            found[condition, extractor, encoder, field, motion, language].append(value)
    assert found.keys() == expected.keys()
    for cell, values in expected.items():
        assert sorted(found[cell]) == pytest.approx(sorted(values)), cell


def test_the_share_of_the_tail_is_that_of_the_pairs(warehouse: duckdb.DuckDBPyConnection, by_hand: ByHand) -> None:
    values = defaultdict(list)
    for (session, _, _, *measure), nearest in by_hand.lake.nearest.items():
        debate = next(debate for debate in by_hand.lake.debates if debate.session_id == session)
        if nearest and debate.n_turns == 8 and debate.condition == "baseline" and measure == ["main", "toy", "claim"]:
            values[debate.language].append(nearest.similarity)
    found = warehouse.sql(
        "select percentile, quantity, threshold, n_pairs, estimate from marts.tail_rates where extractor = 'main' "
        "and encoder = 'toy' and scorer = 'toy' and field = 'claim' and condition = 'baseline' and language = 'ar'"
    ).fetchall()
    assert len(found) == 9
    for percentile, quantity, threshold, n_pairs, estimate in found:
        assert threshold == pytest.approx(np.percentile(values["ar"] + values["en"], percentile))
        ar, en = (np.mean(np.array(values[language]) >= threshold) for language in ("ar", "en"))
        n = {"rate": len(values["ar"]), "reference_rate": len(values["en"])}
        assert n_pairs == n.get(quantity, len(values["ar"]) + len(values["en"]))
        assert estimate == pytest.approx({"rate": ar, "reference_rate": en, "difference": ar - en}[quantity])


def test_encoders_are_compared_on_the_turns_that_both_scored(
    warehouse: duckdb.DuckDBPyConnection, by_hand: ByHand
) -> None:
    debates = {debate.session_id: debate for debate in by_hand.lake.debates if debate.n_turns == 8}
    values: dict[tuple, dict[str, list]] = defaultdict(lambda: defaultdict(list))
    for (session, turn, extractor, encoder, field), (value, *_) in by_hand.turns.items():
        if session in debates and value is not None:
            cell = (debates[session].language, debates[session].condition, extractor, field)
            values[cell][encoder].append((session, turn, value))
    expected = {}
    for cell, by_encoder in values.items():
        for first, second in combinations(sorted(by_encoder), 2):
            # Means that only rounding tells apart are tied.
            one, two = ([round(value, 10) for *_, value in sorted(by_encoder[name])] for name in (first, second))
            expected[*cell, first, second] = (len(one), spearmanr(one, two).statistic)
    sql = """
        select language, condition, extractor, field, encoder, reference_encoder, n_turns, estimate
        from marts.encoder_agreement
    """
    assert_same(rows(warehouse, sql, 6), expected)


def test_repeat_noise_is_the_spread_within_cells(warehouse: duckdb.DuckDBPyConnection, by_hand: ByHand) -> None:
    """One English cell of the lake was debated twice."""
    expected = {}
    for measure in {key[1:] for key in by_hand.sessions if key[0] == "M1-en-baseline-r2"}:
        for place, aggregate in enumerate(("agent_mean", "turn_mean")):
            values = [by_hand.sessions[f"M1-en-baseline-r{repeat}", *measure][place] for repeat in (1, 2)]
            expected[*measure, aggregate] = (1, 2, sqrt(variance(values)))
    sql = f"select {MEASURE}, aggregate, n_cells, n_sessions, estimate from marts.repeat_noise where language = 'en'"
    assert len(expected) == 8
    assert_same(rows(warehouse, sql, 4), expected)


def test_no_table_of_estimates_holds_a_number_that_is_none(built: Built, warehouse: duckdb.DuckDBPyConnection) -> None:
    for table in ESTIMATES:
        doubles = [name for name, kind, *_ in warehouse.sql(f"describe marts.{table}").fetchall() if kind == "DOUBLE"]
        wrong = " or ".join(f"isnan({name}) or isinf({name})" for name in doubles)
        assert warehouse.sql(f"select count(*) from marts.{table} where {wrong}").fetchall() == [(0,)], table
        assert warehouse.sql(f"select count(*) from marts.{table}").fetchall()[0][0] > 0, table


def test_every_table_of_estimates_is_tested_for_whole_intervals(built: Built) -> None:
    tested = {
        node["attached_node"].split(".")[-1]
        for node in built.manifest["nodes"].values()
        if node.get("test_metadata", {}).get("name") == "whole_interval"
    }
    assert tested == set(ESTIMATES)
