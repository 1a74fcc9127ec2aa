"""Sampling plans: strata, weights, repeatability, and that a task's id gives nothing away."""

import numpy as np
import pyarrow as pa
import pytest

from dagster_project.estimators.sampling import PAIR_PLAN_SCHEMA, TURN_PLAN_SCHEMA, sample_pairs, sample_turns


def population(n: int = 300, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    language = np.where(np.arange(n) % 3 == 0, "zh", "en")
    similarity = np.round(rng.normal(0.6 + 0.1 * (language == "zh"), 0.1), 2)
    return pa.table(
        {
            "argument_id": [f"M{i % 10}-{code}-baseline-r1/{2 + i % 7}/{i}" for i, code in enumerate(language)],
            "nearest_argument_id": [f"M{i % 10}-{code}-baseline-r1/1/1" for i, code in enumerate(language)],
            "language": language,
            "similarity": similarity,
        }
    )


def test_each_language_and_pooled_quintile_gives_its_share_with_the_weight_of_its_population() -> None:
    pairs = population()
    plan = sample_pairs(pairs, 8, seed=4)
    assert plan.schema == PAIR_PLAN_SCHEMA
    similarity = pairs["similarity"].to_numpy()
    language = np.array(pairs["language"].to_pylist())
    quintile = np.searchsorted(np.quantile(similarity, [0.2, 0.4, 0.6, 0.8]), similarity)
    rows = plan.to_pylist()
    for code in ("en", "zh"):
        for number in range(5):
            cell = (language == code) & (quintile == number)
            sampled = [row for row in rows if row["stratum"] == f"{code}-q{number + 1}"]
            assert len(sampled) == min(8, cell.sum())
            for row in sampled:
                assert row["population"] == cell.sum()
                assert row["weight"] == cell.sum() / len(sampled)
                assert row["similarity"] in similarity[cell]
    assert sum(row["weight"] for row in rows) == pytest.approx(pairs.num_rows)


def test_a_plan_is_the_same_for_the_same_seed_however_the_population_lies() -> None:
    pairs = population()
    plan = sample_pairs(pairs, 5, seed=9)
    shuffled = pairs.take(pa.array(np.random.default_rng(1).permutation(pairs.num_rows)))
    assert sample_pairs(shuffled, 5, seed=9).equals(plan)
    assert not sample_pairs(pairs, 5, seed=10).equals(plan)


def test_items_come_in_random_order_under_ids_that_say_nothing() -> None:
    plan = sample_pairs(population(), 10, seed=2).to_pylist()
    assert [row["position"] for row in plan] == list(range(1, len(plan) + 1))
    assert len({row["task_id"] for row in plan}) == len(plan)
    strata = [row["stratum"] for row in plan]
    assert strata != sorted(strata)
    for row in plan:
        assert not any(part in row["task_id"] for part in ("zh", "en", "baseline", "M"))


def test_every_pair_of_a_stratum_is_drawn_about_as_often() -> None:
    pairs = population(60)
    drawn: dict[str, int] = {}
    for seed in range(400):
        for row in sample_pairs(pairs, 2, seed=seed).to_pylist():
            drawn[row["argument_id"]] = drawn.get(row["argument_id"], 0) + 1
    plan = {row["stratum"]: row["population"] for row in sample_pairs(pairs, 2, seed=0).to_pylist()}
    assert len(drawn) == 60
    stratum = {
        row["argument_id"]: row["stratum"] for seed in range(60) for row in sample_pairs(pairs, 2, seed).to_pylist()
    }
    for argument, times in drawn.items():
        expected = 400 * min(2, plan[stratum[argument]]) / plan[stratum[argument]]
        assert abs(times - expected) <= 4.5 * np.sqrt(expected)


def test_turns_are_sampled_by_language() -> None:
    turns = pa.table(
        {
            "session_id": [f"s{i // 8}" for i in range(160)],
            "turn_index": pa.array([1 + i % 8 for i in range(160)], pa.int32()),
            "language": ["en"] * 120 + ["zh"] * 40,
        }
    )
    plan = sample_turns(turns, 15, seed=3)
    assert plan.schema == TURN_PLAN_SCHEMA
    weights = {(row["stratum"], row["n_sampled"], row["weight"]) for row in plan.to_pylist()}
    assert weights == {("en", 15, 8.0), ("zh", 15, 40 / 15)}


def test_an_empty_population_gives_an_empty_plan() -> None:
    assert sample_pairs(population().slice(0, 0), 5, seed=1).num_rows == 0


def test_a_population_that_cannot_be_sampled_is_refused() -> None:
    pairs = population(10)
    with pytest.raises(ValueError, match="at least one"):
        sample_pairs(pairs, 0, seed=1)
    with pytest.raises(ValueError, match="there twice"):
        sample_pairs(pa.concat_tables([pairs, pairs]), 5, seed=1)
    missing = pairs.set_column(3, "similarity", pa.array([None] * 10, pa.float64()))
    with pytest.raises(ValueError, match="finite similarity"):
        sample_pairs(missing, 5, seed=1)
