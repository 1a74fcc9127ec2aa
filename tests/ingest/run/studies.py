"""Small studies against the provider on the loopback, in this process or in one that will be killed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ingest.run.agents import Agent, Provider
from ingest.run.caller import LedgerCaller, RetryPolicy
from ingest.run.debate import Debate, Render, debate_in_ledger, hold_debates
from ingest.run.ledger import Ledger
from ingest.run.planned import PlannedSession
from ingest.run.prompts import load_pack, render_turn

DEBATERS = {
    "openai": "openai/gpt-5.5",
    "anthropic": "anthropic/claude-opus-4-7",
    "deepseek": "deepseek/deepseek-chat",
    "mistral": "mistral/mistral-large-latest",
}
ROLES = ("pro_1", "con_1", "pro_2", "con_2")
_PACK = load_pack()


def render(planned: PlannedSession, turn_index: int, said: Sequence[str]) -> str:
    return render_turn(_PACK, planned, turn_index, said)


def plan(n_sessions: int, holders: Sequence[str] = tuple(DEBATERS)) -> list[PlannedSession]:
    """Debates in English and Chinese; the holders of the roles rotate."""
    return [
        PlannedSession(
            session_id=f"M{number:02d}-{language}-baseline-r1",
            motion_id=f"M{number:02d}",
            motion_text=f"{motion} {number}",
            language=language,
            condition="baseline",
            repeat=1,
            role_mapping={role: holders[(number + seat) % len(holders)] for seat, role in enumerate(ROLES)},
        )
        for number in range(n_sessions // 2)
        for language, motion in (("en", "This house would do"), ("zh", "本院将做"))
    ]


def debaters(port: int, max_in_flight: int = 4) -> dict[str, Agent]:
    """The paper's four, at the provider on the loopback."""
    return {
        name: Agent(
            name,
            model,
            Provider(
                name,
                f"http://127.0.0.1:{port}/{name}{'' if name == 'anthropic' else '/v1'}",
                "PLANTED_KEY",
                max_in_flight=max_in_flight,
                timeout_s=30,
            ),
            {"max_tokens": 500},
        )
        for name, model in DEBATERS.items()
    }


def hold(ledger: Path, n_sessions: int, port: int, workers: bool) -> None:
    """One run of a study, as a process does it; with `workers`, LiteLLM runs in processes of its own."""
    from ingest.run.wire import LiteLLMWire

    agents = debaters(port)
    with Ledger(ledger) as opened:
        wire = None if workers else LiteLLMWire()
        caller = LedgerCaller(opened, "debates", wire=wire, retry=RetryPolicy(first_wait_s=0.01))
        report = hold_debates(plan(n_sessions), agents, render, opened, caller)
        caller.close(report.closing_line("again"))


def in_ledger(opened: Ledger, n_sessions: int, port: int, how: Render = render) -> list[Debate]:
    agents = debaters(port)
    return [debate_in_ledger(session, agents, how, opened) for session in plan(n_sessions)]
