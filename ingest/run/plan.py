"""A phase of a study, expanded into the grid of what it asks for, before any call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ingest.archive.strict_rows import file_rows
from ingest.errors import IngestError
from ingest.reference import turn_template
from ingest.run.agents import Agent
from ingest.run.lock import Grid
from ingest.run.planned import PlannedContinuation, PlannedSession, session_id_of
from ingest.run.prompts import Pack, frame_of_turn, prompt_sha256

# The text of each motion in each language it has: {motion_id: {language: text}}.
MotionTexts = Mapping[str, Mapping[str, str]]

_SHOWN = 5


class PlanError(IngestError):
    """A phase that cannot be planned. `str()` names the phase's problem and the remedy."""


def read_motions(path: Path) -> dict[str, dict[str, str]]:
    """The motions of a motions.jsonl, by id. Raises ArchiveError for a record that cannot be used."""
    motions: dict[str, dict[str, str]] = {}
    for row in file_rows(path, "motions"):
        motions.setdefault(row["motion_id"], {})[row["language"]] = row["motion_text"]
    return dict(sorted(motions.items()))


def choose_motions(known: Iterable[str], wanted: int | Sequence[str] | None) -> list[str]:
    """The motions of a phase, in order of their ids: all, the named ones, or a number of them.

    A number takes motions that lie evenly spaced in the order of ids, so that every phase that asks for as many has the
    same. Raises PlanError.
    """
    ids = sorted(known)
    if wanted is None:
        return ids
    if isinstance(wanted, int):
        if not 1 <= wanted <= len(ids):
            raise PlanError(f"{wanted} motions are asked for, and there are {len(ids)}. Ask for 1 to {len(ids)}.")
        return [ids[(2 * place + 1) * len(ids) // (2 * wanted)] for place in range(wanted)]
    if unknown := sorted(set(wanted) - set(ids)):
        raise PlanError(f"There are no motions {_first(unknown)}. Correct the ids, or add them to the motions file.")
    return sorted(set(wanted))


def debate_grid(
    phase: str,
    motions: MotionTexts,
    *,
    motion_ids: Sequence[str],
    languages: Sequence[str],
    conditions: Sequence[str],
    repeats: Sequence[int],
    role_mappings: Mapping[str, Mapping[str, str]],
    pack: Pack,
    agents: Mapping[str, Agent],
) -> Grid:
    """The debates of a phase: motions × languages × conditions × repeats, each with the hashes of its prompts.

    A prompt's hash is over all of it but the speeches, which do not exist yet. Raises PlanError when a motion has no
    text in a language, TemplateError when the pack lacks a condition or its language.
    """
    _require_texts(phase, motions, motion_ids, languages)
    sessions = [
        PlannedSession(
            session_id=session_id_of(motion_id, language, condition, repeat),
            motion_id=motion_id,
            motion_text=motions[motion_id][language],
            language=language,
            condition=condition,
            repeat=repeat,
            role_mapping=role_mappings[motion_id],
        )
        for condition in conditions
        for repeat in repeats
        for motion_id in motion_ids
        for language in languages
    ]
    used = {agent for session in sessions for agent in session.role_mapping.values()}
    header = {"kind": "debates", "pack": pack_identity(pack, conditions, languages), "agents": identities(agents, used)}
    return Grid(phase, header, tuple(_session_item(pack, session) for session in sessions))


def continuation_grid(
    phase: str,
    contexts: Sequence[PlannedSession],
    *,
    turns: Sequence[int],
    agent_names: Sequence[str],
    settings: Sequence[Mapping[str, Any]],
    pack: Pack,
    agents: Mapping[str, Agent],
) -> Grid:
    """The decoding diagnostics [paper E.3]: each agent continues each context under each of the decoding settings."""
    last = max(turn.turn_index for turn in turn_template())
    if outside := [turn for turn in turns if not 1 <= turn <= last]:
        raise PlanError(f"Phase {phase!r} asks for turn {outside[0]}; a debate has turns 1 to {last}.")
    continuations = [
        PlannedContinuation(context, turn_index, agent, setting)
        for agent in agent_names
        for setting in settings
        for turn_index in turns
        for context in contexts
    ]
    conditions = dict.fromkeys(context.condition for context in contexts)
    languages = dict.fromkeys(context.language for context in contexts)
    header = {
        "kind": "decoding",
        "pack": pack_identity(pack, list(conditions), list(languages)),
        "agents": identities(agents, agent_names),
    }
    items = tuple(
        {
            "id": planned.session_id,
            "context": _session_item(pack, planned.context),
            "turn_index": planned.turn_index,
            "agent": planned.agent,
            "parameters": dict(planned.parameters),
        }
        for planned in continuations
    )
    return Grid(phase, header, items)


def planned_sessions(grid: Grid) -> list[PlannedSession]:
    """The debates of a grid of kind `debates`, in its order."""
    return [_session(item) for item in grid.items]


def planned_continuations(grid: Grid) -> list[PlannedContinuation]:
    """The continuations of a grid of kind `decoding`, in its order."""
    return [
        PlannedContinuation(_session(item["context"]), item["turn_index"], item["agent"], item["parameters"])
        for item in grid.items
    ]


def held_roles(grids: Iterable[Grid]) -> dict[str, dict[str, str]]:
    """The role mappings that locked grids of debates hold, by motion: later phases keep to them."""
    return {
        item["motion_id"]: dict(item["role_mapping"])
        for grid in grids
        if grid.header["kind"] == "debates"
        for item in grid.items
    }


def pack_identity(pack: Pack, conditions: Sequence[str], languages: Sequence[str]) -> dict[str, Any]:
    """The pack as a lock holds it: its name and the digest of every file that a prompt of the grid is made from."""
    return {"name": pack.name, "files": pack.files_for(conditions, languages)}


def identities(agents: Mapping[str, Agent], names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The named agents as a lock holds them: what their answers depend on. Raises PlanError for unknown names."""
    wanted = sorted(set(names))
    if unknown := [name for name in wanted if name not in agents]:
        raise PlanError(f"No agent is called {', '.join(unknown)}. Declared: {', '.join(agents)}.")
    return {
        name: {
            "model": agents[name].model,
            "provider": agents[name].provider.name,
            "endpoint": agents[name].provider.endpoint,
            "parameters": dict(agents[name].parameters),
        }
        for name in wanted
    }


def _session_item(pack: Pack, session: PlannedSession) -> dict[str, Any]:
    return {
        "id": session.session_id,
        "motion_id": session.motion_id,
        "motion_text": session.motion_text,
        "language": session.language,
        "condition": session.condition,
        "repeat": session.repeat,
        "role_mapping": dict(session.role_mapping),
        "prompts": [prompt_sha256(frame_of_turn(pack, session, turn.turn_index)) for turn in turn_template()],
    }


def _session(item: Mapping[str, Any]) -> PlannedSession:
    return PlannedSession(
        item["id"],
        item["motion_id"],
        item["motion_text"],
        item["language"],
        item["condition"],
        item["repeat"],
        item["role_mapping"],
    )


def _require_texts(phase: str, motions: MotionTexts, motion_ids: Sequence[str], languages: Sequence[str]) -> None:
    missing = [
        f"{motion}/{language}" for motion in motion_ids for language in languages if language not in motions[motion]
    ]
    if missing:
        raise PlanError(
            f"Phase {phase!r} needs {len(missing)} motion texts that do not exist ({_first(missing)}). "
            "Translate them first, or leave the languages out of the phase."
        )


def _first(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
