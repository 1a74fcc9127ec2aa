"""The marts against the same derivations written in Python."""

import duckdb
import pytest

from tests.dbt.by_hand import ROLE, ByHand, agent
from tests.dbt.dbt_runs import Built

MEASURE = "extractor, encoder, field"


def rows(warehouse: duckdb.DuckDBPyConnection, sql: str, n_keys: int) -> dict[tuple, tuple]:
    """The rows of a query by their first `n_keys` columns; a key that occurs twice is an error."""
    fetched = warehouse.sql(sql).fetchall()
    found = {row[:n_keys]: row[n_keys:] for row in fetched}
    assert len(found) == len(fetched)
    return found


def close(row: tuple) -> tuple:
    return tuple(pytest.approx(value, abs=1e-12) if isinstance(value, float) else value for value in row)


def assert_same(actual: dict[tuple, tuple], expected: dict[tuple, tuple]) -> None:
    assert actual.keys() == expected.keys()
    for key, row in expected.items():
        assert actual[key] == close(row), key


def test_the_lake_holds_the_cases_that_matter(by_hand: ByHand) -> None:
    reasons = {reason for _, reason, *_ in by_hand.turns.values()}
    assert reasons == {None, "first_turn", "empty_prior_pool", "extraction_failed", "extraction_missing"}
    assert any(value is None and n == 0 for value, n in by_hand.agents.values())
    assert any(value is None for value, *_ in by_hand.sessions.values())
    assert any(abs(agents - turns) > 0.001 for agents, turns, *_ in by_hand.sessions.values() if agents is not None)
    assert {key[0] for key in by_hand.contrasts} == {
        "language_gap", "agent_gap", "agent_contrast", "condition_effect", "gap_reduction", "condition_change",
    }  # fmt: skip


def test_turn_similarity_has_every_turn_with_its_value_or_reason(
    warehouse: duckdb.DuckDBPyConnection, by_hand: ByHand
) -> None:
    sql = f"""
        select session_id, turn_index, {MEASURE}, mean_arg_max_prev, null_reason, n_arguments, prior_pool_size
        from marts.turn_similarity where variant = 'raw'
    """
    assert_same(rows(warehouse, sql, 5), by_hand.turns)


def test_every_variant_of_a_turn_has_its_value_or_reason(warehouse: duckdb.DuckDBPyConnection, by_hand: ByHand) -> None:
    sql = f"""
        select session_id, turn_index, {MEASURE}, variant, mean_arg_max_prev, null_reason
        from marts.turn_similarity where variant <> 'raw'
    """
    assert_same(rows(warehouse, sql, 6), by_hand.variants)
    assert {reason for _, reason in by_hand.variants.values()} >= {"no_null_distribution", "prior_pool_too_small"}


def test_the_null_distribution_pools_every_draw(warehouse: duckdb.DuckDBPyConnection, by_hand: ByHand) -> None:
    sql = f"""
        select language, condition, {MEASURE}, turn_index, null_mean, null_sd, n_draws from marts.null_distribution
    """
    assert_same(rows(warehouse, sql, 6), by_hand.null)
    assert len(by_hand.null) > 50


def test_agent_similarity_is_the_mean_over_an_agents_scoreable_turns(
    warehouse: duckdb.DuckDBPyConnection, by_hand: ByHand
) -> None:
    sql = f"""
        select session_id, agent, {MEASURE}, agent_similarity, n_scoreable_turns
        from marts.agent_similarity where variant = 'raw'
    """
    assert_same(rows(warehouse, sql, 5), by_hand.agents)


def test_session_similarity_has_both_aggregates_of_complete_sessions_only(
    warehouse: duckdb.DuckDBPyConnection, by_hand: ByHand
) -> None:
    sql = f"""
        select session_id, {MEASURE}, agent_mean, turn_mean, n_scoreable_turns, n_scoreable_agents
        from marts.session_similarity where variant = 'raw'
    """
    assert_same(rows(warehouse, sql, 4), by_hand.sessions)


def test_motion_contrasts_hold_every_contrast_of_every_motion_and_no_other(
    warehouse: duckdb.DuckDBPyConnection, by_hand: ByHand
) -> None:
    sql = f"""
        select
            contrast, language, reference_language, condition, reference_condition, agent, reference_agent,
            {MEASURE}, aggregate, motion_id, difference
        from marts.motion_contrasts where variant = 'raw'
    """
    assert_same(rows(warehouse, sql, 12), {key: (value,) for key, value in by_hand.contrasts.items()})


def test_language_gaps_put_both_aggregates_in_one_row(warehouse: duckdb.DuckDBPyConnection, by_hand: ByHand) -> None:
    expected: dict[tuple, tuple] = {}
    for (contrast, language, _, condition, _, _, _, *measure, aggregate, motion), _value in by_hand.contrasts.items():
        if contrast == "language_gap" and aggregate == "agent_mean":
            key = (contrast, language, "en", condition, None, None, None, *measure)
            expected[motion, language, condition, *measure] = tuple(
                by_hand.contrasts[*key, name, motion] for name in ("agent_mean", "turn_mean")
            )
    sql = f"""
        select motion_id, language, condition, {MEASURE}, gap, gap_turn_mean
        from marts.language_gaps where variant = 'raw'
    """
    assert_same(rows(warehouse, sql, 6), expected)
    assert not any(motion == "M3" and language == "zh" for motion, language, *_ in expected)


def test_estimates_pass_from_the_lake_to_the_mart_unchanged(built: Built, warehouse: duckdb.DuckDBPyConnection) -> None:
    file = built.lake.root / "gap_estimates" / "current" / "gap_estimates.parquet"
    mart = warehouse.sql("from marts.gap_estimates order by all").fetchall()
    assert mart == warehouse.read_parquet(str(file)).order("all").fetchall()
    assert len(mart) > 100


def test_pairs_name_the_nearest_argument_and_its_speaker(built: Built, warehouse: duckdb.DuckDBPyConnection) -> None:
    sql = """
        select
            session_id, turn_index, split_part(argument_id, '/', 3)::int, extractor, encoder, field,
            nearest_argument_id, similarity, nearest_turn_index, nearest_agent, same_agent, same_side
        from marts.max_prior_pairs
    """
    expected = {}
    for key, nearest in built.lake.nearest.items():
        if nearest is None:
            expected[key] = (None,) * 6
            continue
        turn, there = key[1], int(nearest.argument_id.split("/")[1])
        same_side = ROLE[turn][:3] == ROLE[there][:3]
        expected[key] = (
            nearest.argument_id, nearest.similarity, there, agent(there), agent(turn) == agent(there), same_side,
        )  # fmt: skip
    assert_same(rows(warehouse, sql, 6), expected)


def test_sessions_count_what_the_primary_extractor_gave(built: Built, warehouse: duckdb.DuckDBPyConnection) -> None:
    expected = {
        (debate.session_id,): (
            debate.n_turns,
            sum(n for turn, n in debate.outcomes["main"].items() if isinstance(n, int) and turn <= debate.n_turns),
            debate.n_turns == 8,
        )
        for debate in built.lake.debates
    }
    assert rows(warehouse, "select session_id, n_turns, n_arguments, in_analysis from marts.sessions", 1) == expected


def test_time_stamps_are_read_with_their_offset_and_nonsense_is_null(warehouse: duckdb.DuckDBPyConnection) -> None:
    read = warehouse.sql("select distinct epoch(started_at)::bigint, finished_at from marts.sessions").fetchall()
    assert read == [(1767315845, None)]


def test_turns_that_do_not_say_who_speaks_are_placed_by_the_template(
    built: Built, warehouse: duckdb.DuckDBPyConnection
) -> None:
    silent = next(debate for debate in built.lake.debates if not debate.says_agents)
    sql = f"""
        select turn_index, role, side, agent, model_id, expected_sentences
        from marts.turns where session_id = '{silent.session_id}'
    """
    expected = {
        (turn,): (role, role[:3], agent(turn), f"{agent(turn)}-model", 4 if turn > 6 else 5)
        for turn, role in ROLE.items()
    }
    assert rows(warehouse, sql, 1) == expected


def test_lengths_are_counted_in_the_unit_of_the_language(warehouse: duckdb.DuckDBPyConnection) -> None:
    sql = "select distinct language, text_length, length_unit, sentence_count from marts.turns"
    assert rows(warehouse, sql, 1) == {
        ("en",): (3, "tokens", 2),
        ("ar",): (3, "tokens", 2),
        ("zh",): (6, "characters", 2),
    }


def test_argument_types_collapse_and_the_raw_label_stays(warehouse: duckdb.DuckDBPyConnection) -> None:
    sql = "select distinct argument_type_raw, argument_type from marts.arguments"
    assert rows(warehouse, sql, 1) == {
        ("economic",): ("economic",),
        (" Moral ",): ("moral",),
        ("historical|economic",): ("other",),
        ("unclear",): ("other",),
        ("",): ("other",),
    }


def test_extraction_failures_are_kept_raw(built: Built, warehouse: duckdb.DuckDBPyConnection) -> None:
    expected = {
        (debate.session_id, turn, extractor): ("truncated", "{")
        for debate in built.lake.debates
        for extractor, outcomes in debate.outcomes.items()
        for turn, outcome in outcomes.items()
        if outcome == "failed" and turn <= debate.n_turns
    }
    sql = "select session_id, turn_index, extractor, reason, raw_response from marts.extraction_failures"
    assert rows(warehouse, sql, 3) == expected


def test_a_motion_is_flagged_where_its_translation_was_checked(warehouse: duckdb.DuckDBPyConnection) -> None:
    sql = "select distinct language, qa_flagged from marts.motions"
    assert rows(warehouse, sql, 1) == {("en",): (None,), ("ar",): (None,), ("zh",): (True,)}


def test_the_study_and_the_primary_extractor_travel_as_one_row(
    built: Built, warehouse: duckdb.DuckDBPyConnection
) -> None:
    read = warehouse.sql("select name, encoders, agents, languages, primary_extractor from marts.study").fetchall()
    study = built.lake.study
    assert read == [("known", list(study.encoders), list(study.agents), None, "main")]


def test_groups_of_turns_have_the_mean_of_their_scoreable_turns(warehouse: duckdb.DuckDBPyConnection) -> None:
    measured = warehouse.sql(
        "select session_id, value, extractor, encoder, field, variant, similarity from marts.group_similarity "
        "where attribute = 'side'"
    ).fetchall()
    by_hand = warehouse.sql(
        "select session_id, side, extractor, encoder, field, variant, avg(mean_arg_max_prev) "
        "from marts.turn_similarity join marts.sessions using (session_id) where in_analysis group by all"
    ).fetchall()
    assert {row[:-1]: row[-1] for row in measured} == pytest.approx({row[:-1]: row[-1] for row in by_hand})
    assert len(measured) > 10
    assert warehouse.sql("select distinct value, reference_value from marts.group_gaps").fetchall() == [("pro", "con")]
