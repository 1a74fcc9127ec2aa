"""What a call is, what comes back, and the three ways it can fail.

The door between what calls are for (debates, extraction, translation) and how they are made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Literal, Protocol, TypedDict

from ingest.errors import IngestError
from ingest.run.agents import Agent, check_parameters

Stage = Literal["debate", "extraction", "translation", "back_translation", "adequacy", "judge"]


class Message(TypedDict):
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class CallRequest:
    """One call to make: everything that decides what the model is asked, and what the call is for.

    `parameters` are added to the agent's own and win over them. `response_schema` is a JSON schema for the answer.
    `subject` names what the answer is for (session_id, turn_index, …); it is recorded and is not part of the key.
    With `is_parsed` the answer is data for a parser and not a speech: one that was cut off or is empty counts too;
    the parser keeps it as a failure.
    """

    agent: Agent
    messages: tuple[Message, ...]
    stage: Stage
    parameters: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    response_schema: Mapping[str, Any] | None = None
    repeat: int = 1
    subject: Mapping[str, str | int] = field(default_factory=lambda: MappingProxyType({}))
    is_parsed: bool = False

    def __post_init__(self) -> None:
        check_parameters(f"call of {self.agent.name!r}", self.parameters)

    @property
    def sampling(self) -> dict[str, Any]:
        """The agent's parameters with the call's own on top."""
        return {**self.agent.parameters, **self.parameters}

    @property
    def key(self) -> str:
        """SHA-256 over all that the answer may depend on; transport settings and limits are not in it."""
        identity = {
            "provider": self.agent.provider.name,
            "endpoint": self.agent.provider.endpoint,
            "model": self.agent.model,
            "messages": [dict(message) for message in self.messages],
            "parameters": self.sampling,
            "response_schema": None if self.response_schema is None else dict(self.response_schema),
            "repeat": self.repeat,
        }
        text = json.dumps(identity, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Usage:
    """Tokens as the provider counted them, None where it did not say.

    `input_tokens` includes `cached_input_tokens` and `cache_write_tokens`; `output_tokens` includes `reasoning_tokens`.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True)
class Answer:
    """A model's untouched answer. `cost` is in US dollars, None when the price or the usage is unknown."""

    text: str
    finish_reason: str | None
    model_reported: str | None
    usage: Usage
    cost: Decimal | None
    key: str
    attempt_id: int
    created_at: str


class CallProblem(IngestError):
    """A call that has no answer."""


class ItemFailed(CallProblem):
    """This item has no usable answer and asking again would not help; others are not concerned.

    `kind` is a code (context_length, content_filter, refusal, empty, truncated, bad_request, retries_exhausted).
    """

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason


class ProviderHalted(CallProblem):
    """Nothing more can be had from this provider until a person acts: `reason` says why, `remedy` what is missing."""

    def __init__(self, provider: str, kind: str, reason: str, remedy: str) -> None:
        super().__init__(f"{provider}: {reason} {remedy}")
        self.provider = provider
        self.kind = kind
        self.reason = reason
        self.remedy = remedy


class BudgetReached(CallProblem):
    """The worst case of this call does not fit under the spending cap any more; it was not made."""


class RunStopped(CallProblem):
    """The run was asked to stop before this call was made."""

    def __init__(self) -> None:
        super().__init__("The run was asked to stop; the calls that were in flight are in the ledger.")


Progress = Callable[[int, int], None]


class Caller(Protocol):
    """Makes calls, each at most once: a key that the ledger has answered returns its answer without a call."""

    def call(self, request: CallRequest) -> Answer:
        """The answer. Raises ItemFailed, ProviderHalted, BudgetReached or RunStopped. Several threads may call."""
        ...

    def call_all(
        self, requests: Iterable[CallRequest], progress: Progress | None = None
    ) -> Iterator[tuple[CallRequest, Answer | CallProblem]]:
        """Each request with its answer or its problem, side by side within each provider's limits, as they finish."""
        ...
