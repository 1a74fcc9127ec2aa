"""Phases expanded into grids, and grids that are locked."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import ArchiveError
from ingest.run.lock import Grid, LockError, lock_grid, lock_path, read_lock, read_locks
from ingest.run.plan import (
    PlanError,
    choose_motions,
    continuation_grid,
    debate_grid,
    held_roles,
    planned_continuations,
    planned_sessions,
    read_motions,
)
from ingest.run.prompts import frame_of_turn, load_pack, prompt_sha256
from ingest.run.roles import assign_roles
from ingest.run.templates import TemplateError
from tests.ingest.fake_caller import agent

PACK = load_pack()
AGENTS = {name: agent(name, temperature=1) for name in ("a", "b", "c", "d")}
MOTIONS = {
    f"M{index:03d}": {language: f"Motion {index} in {language}." for language in ("en", "fr", "zh")}
    for index in range(12)
}


def grid(phase: str = "baseline", **fields: Any) -> Grid:
    settings: dict[str, Any] = {
        "motions": MOTIONS,
        "motion_ids": sorted(MOTIONS),
        "languages": ("en", "zh"),
        "conditions": ("baseline",),
        "repeats": (1,),
        "role_mappings": assign_roles(MOTIONS, AGENTS, 42),
        "pack": PACK,
        "agents": AGENTS,
    }
    return debate_grid(phase, **settings | fields)


def test_a_phase_is_motions_by_languages_by_conditions_by_repeats() -> None:
    planned = planned_sessions(grid(conditions=("baseline", "p2_minimal"), repeats=(2, 3)))
    assert len(planned) == 12 * 2 * 2 * 2
    assert len({session.session_id for session in planned}) == len(planned)
    assert {(one.language, one.condition, one.repeat) for one in planned} == {
        (language, condition, repeat)
        for language in ("en", "zh")
        for condition in ("baseline", "p2_minimal")
        for repeat in (2, 3)
    }
    assert planned[0].session_id == "M000-en-baseline-r2"
    assert planned[0].motion_text == "Motion 0 in en."


def test_a_motion_has_one_role_mapping_in_all_its_languages_conditions_and_repeats() -> None:
    mappings: dict[str, set[tuple]] = {}
    for session in planned_sessions(grid(conditions=("baseline", "diversity"), repeats=(1, 2, 3))):
        mappings.setdefault(session.motion_id, set()).add(tuple(sorted(session.role_mapping.items())))
    assert {len(found) for found in mappings.values()} == {1}
    assert len(set.union(*mappings.values())) > 1


def test_each_session_holds_the_hashes_of_its_eight_prompts() -> None:
    expanded = grid(conditions=("diversity",))
    session, item = planned_sessions(expanded)[3], expanded.items[3]
    assert item["prompts"] == [prompt_sha256(frame_of_turn(PACK, session, turn)) for turn in range(1, 9)]
    assert len(set(item["prompts"])) == 8


def test_a_missing_text_or_agent_or_block_is_told_before_anything_is_asked() -> None:
    with pytest.raises(PlanError, match=r"12 motion texts that do not exist \(M000/ru, .*Translate them first"):
        grid(languages=("en", "ru"))
    with pytest.raises(PlanError, match=r"No agent is called d\. Declared: a, b, c"):
        grid(agents={name: AGENTS[name] for name in "abc"})
    with pytest.raises(TemplateError, match=r"p4_targeted_clash.*'fr'"):
        grid(languages=("fr",), conditions=("p4_targeted_clash",))


def test_a_number_of_motions_is_spread_over_them_and_the_same_in_every_phase() -> None:
    ids = [f"M{index:03d}" for index in range(71)]
    chosen = choose_motions(ids, 10)
    assert chosen == choose_motions(reversed(ids), 10)
    gaps = {ids.index(after) - ids.index(before) for before, after in pairwise(chosen)}
    assert len(set(chosen)) == 10
    assert gaps <= {7, 8}
    assert choose_motions(ids, 71) == choose_motions(ids, None) == ids
    assert choose_motions(ids, ["M070", "M003"]) == ["M003", "M070"]
    with pytest.raises(PlanError, match="72 motions are asked for, and there are 71"):
        choose_motions(ids, 72)
    with pytest.raises(PlanError, match="no motions M999"):
        choose_motions(ids, ["M003", "M999"])


def test_continuations_are_contexts_by_turns_by_agents_by_settings() -> None:
    contexts = planned_sessions(grid())[:3]
    settings = [{"temperature": 0.2}, {"temperature": 1.0}, {"top_p": 0.7}]
    expanded = continuation_grid(
        "decoding", contexts, turns=(4, 8), agent_names=("c", "d"), settings=settings, pack=PACK, agents=AGENTS
    )
    planned = planned_continuations(expanded)
    assert len({one.session_id for one in planned}) == len(planned) == 3 * 2 * 2 * 3
    assert {one.condition for one in planned} >= {"c temperature=0.2", "d top_p=0.7"}
    assert planned[0].context == contexts[0]
    assert set(expanded.header["agents"]) == {"c", "d"}
    with pytest.raises(PlanError, match="turn 9; a debate has turns 1 to 8"):
        continuation_grid("d", contexts, turns=(9,), agent_names=("c",), settings=settings, pack=PACK, agents=AGENTS)


def test_the_same_grid_is_locked_once_and_read_back_whole(tmp_path: Path) -> None:
    assert lock_grid(grid(), tmp_path)
    stored = lock_path(tmp_path, "baseline").read_bytes()
    assert not lock_grid(grid(), tmp_path)
    assert lock_path(tmp_path, "baseline").read_bytes() == stored
    locked = read_lock(tmp_path, "baseline")
    assert locked is not None
    assert planned_sessions(locked) == planned_sessions(grid())
    assert read_lock(tmp_path, "diversity") is None
    assert held_roles(read_locks(tmp_path)) == assign_roles(MOTIONS, AGENTS, 42)


CHANGED_PACK = replace(PACK, files={**PACK.files, "length.txt": "0" * 64})
OTHER_TEXT = {**MOTIONS, "M003": {**MOTIONS["M003"], "zh": "Another motion."}}


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"repeats": (1, 2)}, r"24 added \(M000-en-baseline-r2, "),
        ({"languages": ("en",)}, r"12 removed \(M000-zh-baseline-r1, "),
        ({"motions": OTHER_TEXT}, r"motion_text differs in 1 \(M003-zh-baseline-r1\); prompts differs in 1"),
        ({"role_mappings": assign_roles(MOTIONS, AGENTS, 7)}, r"role_mapping differs in"),
        ({"agents": {**AGENTS, "b": agent("b", temperature=0)}}, r"agents\.b\.parameters\.temperature was 1 and is 0"),
        ({"agents": {**AGENTS, "b": agent("b", "openai/x", temperature=1)}}, r'agents\.b\.model was "hosted_vllm/some'),
        ({"pack": CHANGED_PACK}, r"pack\.files\.length\.txt was"),
        ({"motion_ids": sorted(MOTIONS)[::-1]}, "the order of its items differs"),
    ],
)
def test_a_changed_grid_under_the_same_lock_is_an_error_that_says_what_changed(
    tmp_path: Path, fields: dict[str, Any], told: str
) -> None:
    lock_grid(grid(), tmp_path)
    stored = lock_path(tmp_path, "baseline").read_bytes()
    with pytest.raises(LockError, match=told) as refusal:
        lock_grid(grid(**fields), tmp_path)
    assert "give the changed phase another name" in str(refusal.value)
    assert lock_path(tmp_path, "baseline").read_bytes() == stored


def test_a_condition_that_the_phase_does_not_use_may_change(tmp_path: Path) -> None:
    lock_grid(grid(), tmp_path)
    assert not lock_grid(
        grid(pack=replace(PACK, files={**PACK.files, "conditions/p2_minimal/rules.txt": "0"})), tmp_path
    )


def test_a_lock_that_was_changed_by_hand_or_cut_is_refused(tmp_path: Path) -> None:
    lock_grid(grid(), tmp_path)
    path = lock_path(tmp_path, "baseline")
    stored = path.read_text()
    path.write_text(stored.replace("Motion 3 in zh", "Motion 3 in another"))
    with pytest.raises(LockError, match="changed by hand"):
        read_lock(tmp_path, "baseline")
    path.write_text(stored[:-100])
    with pytest.raises(LockError, match="cannot be read"):
        read_lock(tmp_path, "baseline")


def test_motions_are_read_by_id_and_a_line_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    file = tmp_path / "motions.jsonl"
    records = [{"motion_id": "M2", "texts": {"en": "Two."}}, {"motion_id": "M1", "texts": {"en": "One.", "fr": "Un."}}]
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert read_motions(file) == {"M1": {"en": "One.", "fr": "Un."}, "M2": {"en": "Two."}}
    file.write_text(file.read_text() + '{"motion_id": "M3"}\n')
    with pytest.raises(ArchiveError, match=r"motions\.jsonl cannot be used at line 3. texts is missing"):
        read_motions(file)
    file.write_text('{"motion_id": "M1", "texts": {"en": "One."}}\n{"motion_id": "M1", "texts": {"en": "Other."}}\n')
    with pytest.raises(ArchiveError, match="something else in line 2 about M1/en"):
        read_motions(file)
