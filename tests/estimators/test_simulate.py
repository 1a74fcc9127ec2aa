"""The simulated studies, and what stands on them: the marts' SQL, the nearest arguments, and intervals that hold."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from benchmarks.calibration import GAP, NOTHING_PLANTED, PLANTED, TEMPLATE, calibrate, contrasts
from dagster_project.estimators.simulate import Effects, Study, StudyDesign, argument_vectors, simulate
from embeddings.max_prior import max_prior

MARTS = Path(__file__).resolve().parents[2] / "dbt" / "models" / "marts"
NO_NOISE = {
    f"{name}_sd": 0.0
    for name in ("motion", "motion_language", "session", "turn", "argument", "encoder", "claim_length")
}
MESSY = StudyDesign(
    TEMPLATE,
    n_motions=12,
    languages=("en", "ar", "zh"),
    conditions=("baseline", "diversity"),
    encoders=("encoder_a", "encoder_b"),
    n_repeats=2,
    missing=0.2,
    missing_sessions=0.05,
    effects=PLANTED,
)


def drawn(design: StudyDesign, seed: int = 5) -> Study:
    return simulate(design, np.random.default_rng(seed))


def marts(study: Study) -> duckdb.DuckDBPyConnection:
    """The marts from turns to contrasts, by the project's own SQL on the simulated turns."""
    connection = duckdb.connect()
    connection.register("turn_similarity", study.turns())
    connection.execute(
        "create table int_sessions as select distinct session_id, true as in_analysis from turn_similarity"
    )
    connection.execute(
        "create table stg_study__study as "
        "select ? as reference_language, ? as baseline_condition, ?::varchar[] as agents",
        [study.design.languages[0], study.design.conditions[0], list(study.design.agents)],
    )
    for mart in ("agent_similarity", "session_similarity", "motion_contrasts"):
        sql = re.sub(r"\{\{ ref\('(\w+)'\) \}\}", r"\1", (MARTS / f"{mart}.sql").read_text(encoding="utf-8"))
        connection.execute(f"create table {mart} as {sql}")
    return connection


@pytest.fixture(scope="module")
def messy() -> Iterator[tuple[Study, duckdb.DuckDBPyConnection]]:
    study = drawn(MESSY)
    with marts(study) as connection:
        yield study, connection


def test_the_same_seed_gives_the_same_study_and_another_seed_another() -> None:
    first, second, other = drawn(MESSY), drawn(MESSY), drawn(MESSY, seed=6)
    assert first.turns().equals(second.turns())
    assert not first.turns().equals(other.turns())


@pytest.mark.parametrize(
    ("effects", "known"),
    [
        ({"language": {"xx": 0.1}}, "language 'xx'"),
        ({"agent": {"nobody": 0.1}}, "agent 'nobody'"),
        ({"turn": {9: 0.1}}, "turn 9"),
        ({"language_condition": {("en", "xx"): 0.1}}, "language and condition"),
    ],
)
def test_an_effect_of_something_that_the_design_lacks_is_refused(effects: dict, known: str) -> None:
    with pytest.raises(ValueError, match=known):
        drawn(replace(MESSY, effects=Effects(**effects)))


def test_every_turn_has_a_value_or_its_reason(messy: tuple[Study, duckdb.DuckDBPyConnection]) -> None:
    _, connection = messy
    rows = connection.sql("select * from turn_similarity").to_arrow_table().to_pylist()
    assert len(rows) == 12 * 3 * 2 * 2 * 8 * 2
    for row in rows:
        assert (row["mean_arg_max_prev"] is None) == (row["null_reason"] is not None)
        assert (row["null_reason"] == "first_turn") == (row["turn_index"] == 1)
        if row["null_reason"] == "empty_prior_pool":
            assert row["prior_pool_size"] == 0 and row["n_arguments"]
    assert {row["null_reason"] for row in rows} == {None, "first_turn", "extraction_failed", "empty_prior_pool"}


def test_agents_keep_their_role_in_every_language_and_all_speak(messy: tuple[Study, duckdb.DuckDBPyConnection]) -> None:
    _, connection = messy
    holders = connection.sql(
        "select motion_id, role, count(distinct agent) from turn_similarity group by all"
    ).fetchall()
    assert {n for *_, n in holders} == {1}
    speakers = connection.sql("select motion_id, count(distinct agent) from turn_similarity group by all").fetchall()
    assert {n for _, n in speakers} == {4}


# The marts' SQL


def test_the_marts_give_the_session_means_of_the_arrays(messy: tuple[Study, duckdb.DuckDBPyConnection]) -> None:
    study, connection = messy
    for aggregate in ("agent_mean", "turn_mean"):
        rows = connection.sql(
            f"select {aggregate} from session_similarity order by encoder, motion_id, "
            "list_position(['en', 'ar', 'zh'], language), condition, repeat"
        ).fetchnumpy()[aggregate]
        values = np.ma.filled(np.ma.asarray(rows, dtype=np.float64), np.nan)
        np.testing.assert_allclose(values, study.session_means(aggregate).ravel(), rtol=0, atol=1e-12)
    agree = study.session_means("agent_mean") - study.session_means("turn_mean")
    assert np.nanmax(np.abs(agree)) > 0.005


def test_without_noise_every_contrast_of_the_marts_is_the_planted_one() -> None:
    """Turn and agent effects cancel between complete debates, whatever the arguments of their turns."""
    design = replace(MESSY, missing=0.0, missing_sessions=0.0, effects=replace(PLANTED, **NO_NOISE))
    with marts(drawn(design)) as connection:
        rows = connection.sql("from motion_contrasts where aggregate = 'agent_mean'").to_arrow_table().to_pylist()
    gap = {
        (language, condition, agent): design.gap(language, condition, agent)
        for language in ("ar", "zh")
        for condition in design.conditions
        for agent in (None, *design.agents)
    }
    planted = {
        "language_gap": lambda row: gap[row["language"], row["condition"], None],
        "agent_gap": lambda row: gap[row["language"], row["condition"], row["agent"]],
        "agent_contrast": lambda row: (
            gap[row["language"], row["condition"], row["agent"]]
            - gap[row["language"], row["condition"], row["reference_agent"]]
        ),
        "condition_effect": lambda row: design.condition_effect(row["condition"], row["language"]),
        "gap_reduction": lambda row: gap[row["language"], "baseline", None] - gap[row["language"], "diversity", None],
        "condition_change": lambda row: (
            gap[row["language"], "diversity", None] - gap[row["language"], "baseline", None]
        ),
    }
    assert {row["contrast"] for row in rows} == set(planted)
    for row in rows:
        assert row["difference"] == pytest.approx(planted[row["contrast"]](row), abs=1e-12), row
    assert gap["zh", "baseline", None] == pytest.approx(GAP)
    assert gap["zh", "diversity", "agent_a"] == pytest.approx(GAP + 0.01 + 0.012)


def test_missing_turns_and_debates_move_no_gap_where_turns_and_agents_are_alike() -> None:
    effects = replace(PLANTED, agent={}, agent_language={}, turn={}, **NO_NOISE)
    with marts(drawn(replace(MESSY, missing=0.3, effects=effects))) as connection:
        found = connection.sql(
            "select language, aggregate, min(difference), max(difference) from motion_contrasts "
            "where contrast = 'language_gap' and condition = 'baseline' group by all"
        ).fetchall()
    assert len(found) == 4
    for language, _, lowest, highest in found:
        assert (lowest, highest) == pytest.approx((GAP if language == "zh" else 0.0,) * 2, abs=1e-12)


# Vectors


@pytest.mark.parametrize("most_arguments", [4, 40])
def test_the_nearest_earlier_argument_of_the_vectors_is_the_planted_one(most_arguments: int) -> None:
    design = replace(MESSY, n_motions=2, n_repeats=1, missing=0.1, most_arguments=most_arguments)
    given = argument_vectors(drawn(design), 0, np.random.default_rng(1))
    found = max_prior(given.vectors, given.session, given.turn_index, "numpy")
    np.testing.assert_allclose(np.linalg.norm(given.vectors, axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(found.nearest, given.nearest)
    np.testing.assert_allclose(found.similarity, given.similarity, rtol=0, atol=1e-10)
    assert (given.nearest >= 0).mean() > 0.7


def test_a_pool_that_holds_the_arguments_of_the_same_turn_gives_other_answers() -> None:
    given = argument_vectors(drawn(replace(MESSY, n_motions=3)), 0, np.random.default_rng(1))
    scored = siblings_win = 0
    for row in np.flatnonzero(given.nearest >= 0):
        same_turn = (given.session == given.session[row]) & (given.turn_index == given.turn_index[row])
        same_turn[row] = False
        if same_turn.any():
            scored += 1
            siblings_win += (given.vectors[same_turn] @ given.vectors[row]).max() > given.similarity[row]
    assert siblings_win > 0.9 * scored > 100


def test_the_turn_means_of_the_vectors_are_those_of_the_study() -> None:
    study = drawn(replace(MESSY, n_motions=2))
    given = argument_vectors(study, 1, np.random.default_rng(1))
    found = max_prior(given.vectors, given.session, given.turn_index, "numpy").similarity
    turns = study.turn_similarity[1].reshape(-1, len(TEMPLATE))
    for session, turn in zip(*np.nonzero(~np.isnan(turns)), strict=True):
        there = (given.session == session) & (given.turn_index == turn + 1)
        assert found[there].mean() == pytest.approx(turns[session, turn], abs=1e-10)


def test_similarities_that_no_two_vectors_have_are_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        argument_vectors(drawn(replace(MESSY, effects=Effects(level=0.98))), 0, np.random.default_rng(1))


# Calibration


def test_intervals_hold_what_was_planted_and_exclude_zero_as_rarely_as_they_should() -> None:
    n = 200
    rows = list(calibrate(contrasts(71), n, seed=3))
    assert len(rows) == 6
    # Three Monte-Carlo standard errors around what percentile intervals of 71 motions do, 94 of 100.
    error = 3 * np.sqrt(0.94 * 0.06 / n)
    for row in rows:
        assert row.n_intervals == n
        assert abs(row.coverage - 0.94) < error, row
        assert abs(row.type_one - 0.06) < error, row
        assert row.mean_estimate == pytest.approx(row.truth, abs=0.0025)


def test_the_calibration_tells_intervals_that_take_turns_for_independent() -> None:
    design = replace(contrasts(71).design, effects=replace(PLANTED, motion_language_sd=0.06))
    held = 0
    for seed in range(100):
        turns = drawn(design, seed).turn_similarity[0, :, :, 0, 0]
        zh, en = (turns[:, language][~np.isnan(turns[:, language])] for language in (1, 0))
        error = np.sqrt(zh.var(ddof=1) / len(zh) + en.var(ddof=1) / len(en))
        held += abs(zh.mean() - en.mean() - GAP) < 1.96 * error
    assert held < 80


def test_a_study_without_planted_effects_has_no_gap() -> None:
    design = replace(MESSY, effects=NOTHING_PLANTED)
    assert design.gap("zh", "diversity", "agent_a") == design.condition_effect("diversity", "zh") == 0


def test_holding_the_length_of_claims_constant_leaves_the_direct_gap() -> None:
    effects = Effects(language={"zh": GAP}, claim_length={"en": 90.0, "zh": 30.0}, per_character=0.001)
    design = replace(MESSY, languages=("en", "zh"), effects=effects)
    assert design.gap("zh") == pytest.approx(GAP - 0.06)
    assert design.direct_gap("zh") == pytest.approx(GAP)


def test_pairs_are_all_arguments_with_an_earlier_one() -> None:
    study = drawn(MESSY)
    pairs = study.pairs()
    assert isinstance(pairs, pa.Table)
    n = np.where(study.prior_pool_size > 0, study.n_arguments, 0).sum()
    assert pairs.num_rows == 2 * n
    values = np.array(pairs["value"].to_pylist())
    assert values.mean() == pytest.approx(study.similarity[~np.isnan(study.similarity)].mean())
