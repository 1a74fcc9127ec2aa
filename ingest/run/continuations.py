"""Single speeches in the place of one that a debate already has, under other decoding settings [paper E.3]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ingest.archive.strict_rows import archive_rows
from ingest.archive.write import write_jsonl
from ingest.errors import ArchiveError
from ingest.reference import turn_template
from ingest.run.agents import Agent
from ingest.run.call import Answer, Caller, CallRequest, ItemFailed, Progress
from ingest.run.planned import PlannedContinuation
from ingest.run.prompts import Pack, prompt_sha256, render_turn

_TURNS = {turn.turn_index: turn for turn in turn_template()}


@dataclass(frozen=True)
class ContinuationReport:
    """What became of the continuations: `n_written`, `failed` by kind, `n_waiting` for what `halts` tell."""

    n_continuations: int
    n_written: int
    failed: Mapping[str, int] = field(default_factory=dict)
    n_waiting: int = 0
    halts: tuple[str, ...] = ()


def run_continuations(
    pack: Pack,
    continuations: Sequence[PlannedContinuation],
    archive: Path,
    agents: Mapping[str, Agent],
    caller: Caller,
    dest: Path,
    progress: Progress | None = None,
) -> ContinuationReport:
    """Generates the continuations of debates that lie in `archive`; writes sessions.jsonl and turns.jsonl into `dest`.

    Each continuation is a session of its own: the debate's turns before it as they stand, then the new speech. Its
    condition names agent and setting. Sessions that end before turn 8 have the status partial. Raises ArchiveError
    when the archive lacks a turn that comes before a continuation.
    """
    spoken: dict[str, dict[int, dict[str, Any]]] = {}
    for turn in archive_rows(archive, "turns"):
        spoken.setdefault(turn["session_id"], {})[turn["turn_index"]] = turn
    contexts = {one.session_id: _context(archive, one, spoken.get(one.context.session_id, {})) for one in continuations}
    requests = [_request(pack, one, contexts[one.session_id], agents) for one in continuations]
    answers: dict[str, Answer] = {}
    failed: Counter[str] = Counter()
    halts: dict[str, None] = {}
    n_waiting = 0
    for request, outcome in caller.call_all(requests, progress):
        if isinstance(outcome, Answer):
            answers[str(request.subject["session_id"])] = outcome
        elif isinstance(outcome, ItemFailed):
            failed[outcome.kind] += 1
        else:
            n_waiting += 1
            halts[str(outcome)] = None
    done = [one for one in continuations if one.session_id in answers]
    write_jsonl(dest / "turns.jsonl", (turn for one in done for turn in _turns(pack, one, contexts, answers)))
    write_jsonl(dest / "sessions.jsonl", (_session(one, contexts[one.session_id], answers) for one in done))
    return ContinuationReport(len(continuations), len(done), dict(sorted(failed.items())), n_waiting, tuple(halts))


def _context(archive: Path, one: PlannedContinuation, turns: Mapping[int, dict[str, Any]]) -> list[dict[str, Any]]:
    wanted = range(1, one.turn_index)
    if missing := [index for index in wanted if index not in turns]:
        raise ArchiveError(
            archive,
            f"lacks turn {missing[0]} of {one.context.session_id}, which is to be continued at turn {one.turn_index}",
            "Generate that debate first",
        )
    return [turns[index] for index in wanted]


def _prompt(pack: Pack, one: PlannedContinuation, context: Sequence[Mapping[str, Any]]) -> str:
    return render_turn(pack, one.context, one.turn_index, [turn["text"] for turn in context])


def _request(
    pack: Pack, one: PlannedContinuation, context: Sequence[Mapping[str, Any]], agents: Mapping[str, Agent]
) -> CallRequest:
    return CallRequest(
        agent=agents[one.agent],
        messages=({"role": "user", "content": _prompt(pack, one, context)},),
        stage="debate",
        parameters=one.parameters,
        repeat=one.context.repeat,
        subject={"session_id": one.session_id, "turn_index": one.turn_index},
    )


def _turns(
    pack: Pack,
    one: PlannedContinuation,
    contexts: Mapping[str, Sequence[Mapping[str, Any]]],
    answers: Mapping[str, Answer],
) -> list[dict[str, Any]]:
    context, answer = contexts[one.session_id], answers[one.session_id]
    place = _TURNS[one.turn_index]
    new = {
        "session_id": one.session_id,
        "turn_index": one.turn_index,
        "phase": place.phase,
        "role": place.role,
        "side": place.side,
        "agent": one.agent,
        "model_id": answer.model_reported,
        "text": answer.text,
        "prompt_sha256": prompt_sha256(_prompt(pack, one, context)),
        "finish_reason": answer.finish_reason,
        "usage": {"input_tokens": answer.usage.input_tokens, "output_tokens": answer.usage.output_tokens},
        "created_at": answer.created_at,
    }
    return [*(_copied(one, turn) for turn in context), new]


def _copied(one: PlannedContinuation, turn: Mapping[str, Any]) -> dict[str, Any]:
    place = _TURNS[turn["turn_index"]]
    kept = {name: turn[name] for name in ("phase", "side", "model_id", "text", "prompt_sha256", "finish_reason")}
    return {
        "session_id": one.session_id,
        "turn_index": turn["turn_index"],
        **kept,
        "role": turn["role"] or place.role,
        "agent": turn["agent"] or one.context.role_mapping[place.role],
        "usage": {"input_tokens": turn["input_tokens"], "output_tokens": turn["output_tokens"]},
        "created_at": turn["created_at"],
    }


def _session(
    one: PlannedContinuation, context: Sequence[Mapping[str, Any]], answers: Mapping[str, Answer]
) -> dict[str, Any]:
    models = {turn["agent"]: turn["model_id"] for turn in context if turn["agent"]}
    return {
        "session_id": one.session_id,
        "motion_id": one.context.motion_id,
        "motion_text": one.context.motion_text,
        "language": one.context.language,
        "condition": one.condition,
        "repeat": one.context.repeat,
        "role_mapping": dict(one.context.role_mapping),
        "agents": models | {one.agent: answers[one.session_id].model_reported},
        "status": "complete" if one.turn_index == max(_TURNS) else "partial",
        "source": f"continuation of {one.context.session_id}",
    }
