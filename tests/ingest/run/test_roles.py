"""Role mappings: balanced, reproducible, and kept once they are held."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.run.roles import ROLES, RoleError, assign_roles

AGENTS = ("gpt", "claude", "deepseek", "mistral")
EXPECTED = {
    "M0000": {"pro_1": "deepseek", "con_1": "claude", "pro_2": "mistral", "con_2": "gpt"},
    "M0001": {"pro_1": "claude", "con_1": "mistral", "pro_2": "gpt", "con_2": "deepseek"},
    "M0002": {"pro_1": "mistral", "con_1": "gpt", "pro_2": "deepseek", "con_2": "claude"},
}


def motions(n: int) -> list[str]:
    return [f"M{index:04d}" for index in range(n)]


@given(n=st.integers(1, 200), seed=st.integers(0, 1000))
def test_over_any_number_of_motions_each_agent_holds_each_role_about_equally_often(n: int, seed: int) -> None:
    assigned = assign_roles(motions(n), AGENTS, seed)
    held = Counter((role, agent) for mapping in assigned.values() for role, agent in mapping.items())
    counts = [held[role, agent] for role in ROLES for agent in AGENTS]
    assert max(counts) - min(counts) <= 1
    assert all(sorted(mapping.values()) == sorted(AGENTS) for mapping in assigned.values())


@pytest.mark.parametrize("seed", [0, 1, 42])
def test_every_24_motions_have_all_24_permutations(seed: int) -> None:
    assigned = list(assign_roles(motions(72), AGENTS, seed).values())
    for start in (0, 24, 48):
        dealt = {tuple(mapping[role] for role in ROLES) for mapping in assigned[start : start + 24]}
        assert dealt == set(permutations(AGENTS))


def test_the_order_of_motions_and_agents_does_not_matter_and_the_seed_does() -> None:
    dealt = assign_roles(motions(30), AGENTS, 42)
    assert assign_roles(reversed(motions(30)), AGENTS[::-1], 42) == dealt
    assert assign_roles(motions(30), AGENTS, 43) != dealt


def test_the_published_grid_has_the_mapping_it_always_had() -> None:
    # Written down: a change of these would give every locked study other roles.
    dealt = assign_roles(motions(3), AGENTS, 42)
    assert dealt == EXPECTED


@given(n_held=st.integers(0, 60), n_more=st.integers(0, 60))
def test_motions_that_hold_roles_keep_them_and_the_whole_stays_balanced(n_held: int, n_more: int) -> None:
    held = assign_roles([f"Z{index:04d}" for index in range(n_held)], AGENTS, 42)
    whole = assign_roles([*held, *motions(n_more)], AGENTS, 42, held)
    assert {motion: whole[motion] for motion in held} == held
    counts = Counter((role, agent) for mapping in whole.values() for role, agent in mapping.items())
    every = [counts[role, agent] for role in ROLES for agent in AGENTS]
    assert max(every) - min(every) <= 1


def test_a_subset_of_motions_has_the_mappings_of_the_whole_when_they_are_held() -> None:
    whole = assign_roles(motions(71), AGENTS, 42)
    assert assign_roles(motions(71)[10:20], AGENTS, 42, whole) == {
        motion: whole[motion] for motion in motions(71)[10:20]
    }


def test_one_or_two_agents_fill_the_roles_with_several_seats() -> None:
    assert set(assign_roles(["M1"], ["only"], 42)["M1"].values()) == {"only"}
    two = assign_roles(motions(24), ["a", "b"], 42)
    assert all(sorted(mapping.values()) == ["a", "a", "b", "b"] for mapping in two.values())


@pytest.mark.parametrize("agents", [[], ["a", "b", "c"], ["a", "b", "c", "d", "e"], ["a", "a"]])
def test_agents_that_cannot_share_the_roles_evenly_are_refused(agents: list[str]) -> None:
    with pytest.raises(RoleError, match="Name 1, 2 or 4"):
        assign_roles(["M1"], agents, 42)
