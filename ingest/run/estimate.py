"""How many calls a plan makes, of about how many tokens, for about how much money, before any is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from ingest.reference import languages, turn_template
from ingest.run.agents import Agent
from ingest.run.call import CallRequest, Stage, Usage
from ingest.run.planned import PlannedContinuation, PlannedSession
from ingest.run.prices import cost_of
from ingest.run.prompts import Pack, frame_of_turn

# Rough figures for a plan, never for a bill. A token of today's models is about four bytes of UTF-8 in the scripts of
# the reference languages; the lengths of sentences are those of the sample archive.
BYTES_PER_TOKEN = 4
_BYTES_PER_SENTENCE = {"Latin": 130, "Cyrillic": 210, "Arabic": 175, "Han": 120}
_BYTES_PER_SENTENCE_ELSEWHERE = 210

_SCRIPTS = {language.language: language.script for language in languages()}
_TURNS = {turn.turn_index: turn for turn in turn_template()}


@dataclass(frozen=True)
class PlannedCalls:
    """The calls of one stage of a phase to one agent. Tokens are estimates, without what a model reasons.

    `cost` in US dollars is an estimate as well, None when the agent's price is unknown.
    """

    phase: str
    stage: Stage
    provider: str
    agent: str
    n_calls: int
    input_tokens: int
    output_tokens: int
    cost: Decimal | None


@dataclass(frozen=True)
class Total:
    """A sum over calls. `known_cost` is of those with a known price; `n_unpriced` calls have none."""

    n_calls: int
    input_tokens: int
    output_tokens: int
    known_cost: Decimal
    n_unpriced: int


@dataclass(frozen=True)
class ExpectedCall:
    """One call as it is expected, in bytes of UTF-8."""

    agent: Agent
    stage: Stage
    input_bytes: int
    output_bytes: int


def speech_bytes(language: str, turn_index: int) -> int:
    """About how many bytes a speech has."""
    per_sentence = _BYTES_PER_SENTENCE.get(_SCRIPTS.get(language, ""), _BYTES_PER_SENTENCE_ELSEWHERE)
    return per_sentence * _TURNS[turn_index].expected_sentences


def debate_calls(pack: Pack, session: PlannedSession, agents: Mapping[str, Agent]) -> list[ExpectedCall]:
    """One call a turn."""
    return [
        _speech(pack, session, turn.turn_index, agents[session.role_mapping[turn.role]]) for turn in _TURNS.values()
    ]


def continuation_call(pack: Pack, continuation: PlannedContinuation, agents: Mapping[str, Agent]) -> ExpectedCall:
    """The one call of a continuation."""
    return _speech(pack, continuation.context, continuation.turn_index, agents[continuation.agent])


def expected_call(request: CallRequest, output_bytes: int) -> ExpectedCall:
    """A request whose texts are about as long as they will be."""
    input_bytes = sum(len(message["content"].encode()) for message in request.messages)
    return ExpectedCall(request.agent, request.stage, input_bytes, output_bytes)


def planned_calls(phase: str, calls: Iterable[ExpectedCall]) -> list[PlannedCalls]:
    """The calls of a phase, summed by stage and agent, in order of their first call."""
    grouped: dict[tuple[Stage, str], list[ExpectedCall]] = {}
    for call in calls:
        grouped.setdefault((call.stage, call.agent.name), []).append(call)
    return [_summed(phase, stage, group) for (stage, _), group in grouped.items()]


def total(calls: Iterable[PlannedCalls]) -> Total:
    """The sum of planned calls."""
    calls = list(calls)
    return Total(
        n_calls=sum(one.n_calls for one in calls),
        input_tokens=sum(one.input_tokens for one in calls),
        output_tokens=sum(one.output_tokens for one in calls),
        known_cost=sum((one.cost for one in calls if one.cost is not None), Decimal(0)),
        n_unpriced=sum(one.n_calls for one in calls if one.cost is None),
    )


def _speech(pack: Pack, session: PlannedSession, turn_index: int, agent: Agent) -> ExpectedCall:
    frame = len(frame_of_turn(pack, session, turn_index).encode())
    earlier = sum(speech_bytes(session.language, index) for index in range(1, turn_index))
    return ExpectedCall(agent, "debate", frame + earlier, speech_bytes(session.language, turn_index))


def _summed(phase: str, stage: Stage, calls: list[ExpectedCall]) -> PlannedCalls:
    agent = calls[0].agent
    input_tokens = sum(_tokens(call.input_bytes) for call in calls)
    output_tokens = sum(_tokens(call.output_bytes) for call in calls)
    # Priced call by call: a price can depend on the size of the call.
    costs = [
        cost_of(agent.model, Usage(_tokens(call.input_bytes), _tokens(call.output_bytes)), agent.price)
        for call in calls
    ]
    cost = None if None in costs else sum(costs, Decimal(0))  # type: ignore[arg-type]
    return PlannedCalls(phase, stage, agent.provider.name, agent.name, len(calls), input_tokens, output_tokens, cost)


def _tokens(n_bytes: int) -> int:
    return -(-n_bytes // BYTES_PER_TOKEN)
