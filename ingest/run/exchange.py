"""One attempt as plain data: what is to be asked, what left, and what came back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ingest.run.call import CallRequest, Message, Usage


@dataclass(frozen=True)
class Outgoing:
    """A call as a wire needs it. Holds the key itself; it is handed on and never kept."""

    model: str
    messages: tuple[Message, ...]
    parameters: Mapping[str, Any]
    endpoint: str | None
    key: str | None
    timeout_s: float

    @classmethod
    def of(cls, request: CallRequest) -> Outgoing:
        """The call with the key that the environment holds for its provider."""
        provider = request.agent.provider
        parameters = request.sampling
        if request.response_schema is not None:
            schema = {"name": "answer", "schema": dict(request.response_schema), "strict": True}
            parameters["response_format"] = {"type": "json_schema", "json_schema": schema}
        messages = tuple(Message(role=message["role"], content=message["content"]) for message in request.messages)
        return cls(request.agent.model, messages, parameters, provider.endpoint, provider.key, provider.timeout_s)


@dataclass(frozen=True)
class Sent:
    """A request as it leaves: where to, and its body, byte for byte (credentials travel in headers, never here)."""

    url: str
    body: bytes


@dataclass
class Exchange:
    """What happened on the wire. `body` may be incomplete when `error` is set; `status` None means no response came.

    `latency_s` is None when no request left. The answer's fields are LiteLLM's reading of the response, None when it
    could not read one.
    """

    sent: Sent | None = None
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    latency_s: float | None = None
    error: str | None = None
    text: str | None = None
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
