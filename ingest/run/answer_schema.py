"""How an answer that is parsed is asked for: its schema where the provider takes one, and its longest length."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingest.run.agents import Agent

# Providers that refuse a request with a JSON schema; their models have the prompt's description of the answer alone.
_WITHOUT_SCHEMA = frozenset({"deepseek"})


def schema_for(agent: Agent, schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The schema to send with a request, None where the agent's provider would refuse the request for it."""
    return None if agent.model.split("/")[0] in _WITHOUT_SCHEMA else schema


def object_schema(properties: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The JSON schema of an object that has exactly these properties."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def output_limit(agent: Agent, tokens: int) -> dict[str, int]:
    """The sampling parameter that limits an answer, under the name that the agent's own limit has."""
    has_newer_name = "max_completion_tokens" in agent.parameters
    return {"max_completion_tokens" if has_newer_name else "max_tokens": tokens}
