"""Debates: eight turns one after the other, sessions side by side, and what the ledger says became of each."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Literal

from ingest.errors import IngestError
from ingest.reference import TemplateTurn, turn_template
from ingest.run.agents import Agent
from ingest.run.call import (
    Answer,
    BudgetReached,
    CallProblem,
    CallRequest,
    Progress,
    ProviderHalted,
)
from ingest.run.caller import LedgerCaller, workers_for
from ingest.run.ledger import Ledger, LedgerReader
from ingest.run.planned import PlannedSession

Render = Callable[[PlannedSession, int, Sequence[str]], str]
Status = Literal["complete", "partial", "failed", "waiting"]

MODEL_CHANGED = "model_changed"


class DebateError(IngestError):
    """A planned debate that cannot be held as planned. `str()` names it and the remedy."""


@dataclass(frozen=True)
class Turn:
    """One speech with the request that asked for it."""

    template: TemplateTurn
    agent: Agent
    prompt_sha256: str
    answer: Answer

    @property
    def model_id(self) -> str:
        """The model build as the provider reported it, else the model that was asked for."""
        return self.answer.model_reported or self.agent.model


@dataclass(frozen=True)
class Debate:
    """What there is of a planned debate: its turns from the first on, without a gap.

    `status` is complete (eight turns, one model build a seat), partial, failed (no turn, and an attempt at the first)
    or waiting (not begun). `code` and `reason` say why it is not complete.
    """

    planned: PlannedSession
    turns: tuple[Turn, ...]
    status: Status
    code: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class DebateReport:
    """How a run of debates ended, in the plan's order, with what stopped it."""

    debates: tuple[Debate, ...]
    halts: tuple[ProviderHalted, ...]
    budget: BudgetReached | None = None

    def count(self, status: Status) -> int:
        """How many debates have a status."""
        return sum(debate.status == status for debate in self.debates)

    def closing_line(self, resume_command: str) -> str:
        """One line: what is done, why the rest is not, what is missing, and the command that goes on."""
        line = f"{self.count('complete')} of {len(self.debates)} debates are complete"
        left = [f"{self.count(status)} {status}" for status in _LEFT if self.count(status)]
        if not left:
            return f"{line}."
        parts = [f"{line}, {', '.join(left)}."]
        parts += [
            " ".join(f"{halt.provider}: {halt.reason} {halt.remedy}".split()).rstrip(".") + "." for halt in self.halts
        ]
        if self.budget is not None:
            parts.append(str(self.budget))
        explained = {"not_reached", *(halt.kind for halt in self.halts)}
        others = sorted({debate.code for debate in self.debates if debate.code} - explained)
        if others:
            parts.append(f"Single debates stopped for: {', '.join(others)}.")
        return f"{' '.join(parts)} To go on: {resume_command}"


_LEFT: tuple[Status, ...] = ("partial", "failed", "waiting")


def hold_debates(
    planned: Sequence[PlannedSession],
    agents: Mapping[str, Agent],
    render: Render,
    ledger: Ledger,
    caller: LedgerCaller,
    *,
    restart_partial: bool = False,
    progress: Progress | None = None,
) -> DebateReport:
    """Holds what is left of the planned debates and returns the state of all of them.

    A debate goes on from its first missing turn. With `restart_partial`, a debate that has turns and is not complete is
    begun anew: its answers stay in the ledger, set aside. A halted provider ends the debates that need it at their
    next turn; the others go on. `progress` is told how many debates have ended. On Ctrl-C the calls in flight are
    finished and recorded before KeyboardInterrupt goes on.

    Raises DebateError when a plan names an agent that is not declared, or a session twice.
    """
    _check(planned, agents)
    if restart_partial:
        for session in planned:
            if debate_in_ledger(session, agents, render, ledger).status == "partial":
                ledger.set_aside(session.session_id, "The debate was begun anew, since it was not complete.")
    over_budget: list[BudgetReached] = []

    def hold(session: PlannedSession) -> None:
        try:
            _turns(session, agents, render, caller.call)
        except BudgetReached as problem:
            over_budget.append(problem)
        except CallProblem:
            # What failed is in the ledger, who halted is known to the caller; the report is made from both.
            return

    seats = [agents[name] for session in planned for name in session.role_mapping.values()]
    ended = 0
    with ThreadPoolExecutor(workers_for(seats), "debate") as pool:
        running = {pool.submit(hold, session) for session in planned}
        try:
            while running:
                done, running = wait(running, timeout=1.0, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
                if done and progress is not None:
                    ended += len(done)
                    progress(ended, len(planned))
        except BaseException:
            caller.stop()
            for future in running:
                future.cancel()
            raise
    debates = tuple(debate_in_ledger(session, agents, render, ledger) for session in planned)
    return DebateReport(debates, caller.halts, next(iter(over_budget), None))


def debate_in_ledger(
    planned: PlannedSession, agents: Mapping[str, Agent], render: Render, ledger: Ledger | LedgerReader
) -> Debate:
    """What the ledger holds of a planned debate. Makes no call."""

    def answered(request: CallRequest) -> Answer:
        answer = ledger.answer(request.key)
        if answer is None:
            raise _NotAnswered
        return answer

    turns = _turns(planned, agents, render, answered)
    if len(turns) == len(turn_template()):
        changed = _changed_builds(turns)
        return (
            Debate(planned, turns, "partial", MODEL_CHANGED, changed) if changed else Debate(planned, turns, "complete")
        )
    failure = ledger.last_failure(planned.session_id, len(turns) + 1)
    if failure is None:
        reason = f"Turn {len(turns) + 1} has not been asked for."
        return Debate(planned, turns, "partial" if turns else "waiting", "not_reached", reason)
    code, said = failure
    return Debate(planned, turns, "partial" if turns else "failed", code, f"Turn {len(turns) + 1}: {said}")


class _NotAnswered(Exception): ...


def _turns(
    planned: PlannedSession, agents: Mapping[str, Agent], render: Render, answer: Callable[[CallRequest], Answer]
) -> tuple[Turn, ...]:
    """The turns of a debate in their order, each asked for with what was said before it, until one has no answer."""
    turns: list[Turn] = []
    for template in turn_template():
        agent = agents[planned.role_mapping[template.role]]
        prompt = render(planned, template.turn_index, [turn.answer.text for turn in turns])
        request = CallRequest(
            agent=agent,
            messages=({"role": "user", "content": prompt},),
            stage="debate",
            repeat=planned.repeat,
            subject={"session_id": planned.session_id, "turn_index": template.turn_index},
        )
        try:
            answered = answer(request)
        except _NotAnswered:
            break
        turns.append(Turn(template, agent, hashlib.sha256(prompt.encode()).hexdigest(), answered))
    return tuple(turns)


def _changed_builds(turns: Sequence[Turn]) -> str | None:
    """Which agent's model build changed within the debate; an unreported build is no change."""
    builds: dict[str, list[str]] = {}
    for turn in turns:
        reported = turn.answer.model_reported
        if reported is not None and reported not in builds.setdefault(turn.agent.name, []):
            builds[turn.agent.name].append(reported)
    changed = [f"{agent} spoke as {' and as '.join(names)}" for agent, names in builds.items() if len(names) > 1]
    return f"{'; '.join(changed)}." if changed else None


def _check(planned: Sequence[PlannedSession], agents: Mapping[str, Agent]) -> None:
    seen: set[str] = set()
    for session in planned:
        if session.session_id in seen:
            raise DebateError(f"The plan has {session.session_id} twice. Make its grid anew.")
        seen.add(session.session_id)
        if unknown := sorted(set(session.role_mapping.values()) - agents.keys()):
            raise DebateError(
                f"{session.session_id} needs {', '.join(unknown)}, which the agents file does not declare. "
                f"It declares {', '.join(agents)}."
            )
