"""A provider on the loopback, agents that are reached through it, and a ledger of their own for each test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ingest.run.agents import Agent, Provider
from ingest.run.caller import LedgerCaller, RetryPolicy
from ingest.run.ledger import Ledger
from ingest.run.wire import LiteLLMWire
from tests.ingest.run.provider_server import ProviderServer

SECRET = "sk-planted-0123456789abcdef"

MODELS = {
    "openai": "openai/gpt-5.5",
    "anthropic": "anthropic/claude-opus-4-7",
    "deepseek": "deepseek/deepseek-chat",
    "mistral": "mistral/mistral-large-latest",
    "openrouter": "openrouter/meta/llama",
    "hosted_vllm": "hosted_vllm/llama",
    "ollama": "ollama_chat/llama3",
}


@pytest.fixture(autouse=True)
def planted_key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PLANTED_KEY", SECRET)
    return SECRET


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer() as running:
        yield running


@pytest.fixture(scope="session")
def wire() -> Iterator[LiteLLMWire]:
    opened = LiteLLMWire()
    yield opened
    opened.close()


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "ledger.sqlite") as opened:
        yield opened


@pytest.fixture
def agents(server: ProviderServer) -> dict[str, Agent]:
    """One agent a provider, named after it."""
    return {
        name: Agent(name, model, Provider(name, server.url(name), "PLANTED_KEY", timeout_s=5), {"max_tokens": 200})
        for name, model in MODELS.items()
    }


@pytest.fixture
def caller(ledger: Ledger, wire: LiteLLMWire) -> Callable[..., LedgerCaller]:
    """Makes callers whose pauses are short."""

    def make(**settings: object) -> LedgerCaller:
        retry = RetryPolicy(attempts=3, first_wait_s=0.01, longest_wait_s=0.02)
        return LedgerCaller(ledger, "test", **({"wire": wire, "retry": retry} | settings))

    return make
