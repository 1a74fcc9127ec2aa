"""The agents of a study and the provider accounts they are reached through, as declared in one YAML file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal, InvalidOperation
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from ingest.errors import IngestError

DECLARED = Path(__file__).with_name("agents.yaml")

# What the request itself says, or what would undo the record: hidden retries, streaming, other models.
_RESERVED = {
    "api_base",
    "api_key",
    "base_url",
    "caching",
    "client",
    "extra_headers",
    "fallbacks",
    "headers",
    "max_retries",
    "messages",
    "mock_response",
    "model",
    "n",
    "num_retries",
    "response_format",
    "stream",
    "timeout",
}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class AgentSettingsError(IngestError):
    """The agents file cannot be used. `str()` names the file, the entry and the remedy."""


@dataclass(frozen=True)
class PriceOverride:
    """Prices in US dollars per million tokens that replace the price table's, for one agent.

    `cached_input` is the price of input tokens that the provider read from its cache; None means the input price.
    """

    input: Decimal
    output: Decimal
    cached_input: Decimal | None = None


@dataclass(frozen=True)
class Provider:
    """One account at one endpoint. Its limits are shared by all agents that are reached through it.

    `key_env` is the name of the environment variable that holds the key, None for a server that asks for none.
    None for a rate means that the provider is not known to have one; `timeout_s` bounds a whole attempt.
    """

    name: str
    endpoint: str | None = None
    key_env: str | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    max_in_flight: int = 8
    timeout_s: float = 300.0

    @property
    def key(self) -> str | None:
        """The key from the environment, None when the provider asks for none or the variable is empty."""
        return (os.environ.get(self.key_env) or None) if self.key_env else None


@dataclass(frozen=True)
class Agent:
    """A participant or an instrument: a model at a provider with its sampling parameters.

    `model` is the LiteLLM model string (`openai/…`, `anthropic/…`, `hosted_vllm/…`, `ollama_chat/…`).
    """

    name: str
    model: str
    provider: Provider
    parameters: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    price: PriceOverride | None = None


def load_agents(path: Path = DECLARED) -> dict[str, Agent]:
    """The agents declared in a YAML file, by name, in the file's order.

    Raises AgentSettingsError naming the file, the entry and the remedy.
    """
    try:
        document = yaml.load(path.read_text(encoding="utf-8"), _UniqueKeys)
    except OSError as error:
        raise AgentSettingsError(f"{path} cannot be read ({error.strerror}). Check that the file exists.") from error
    except yaml.YAMLError as error:
        raise AgentSettingsError(f"{path} is not YAML: {error}") from error
    if not isinstance(document, dict) or not {"providers", "agents"} <= document.keys():
        raise AgentSettingsError(f"{path} needs the sections 'providers' and 'agents'.")
    if unknown := sorted(map(str, document.keys() - {"providers", "agents"})):
        raise AgentSettingsError(f"{path} has unknown sections {', '.join(unknown)}; remove them.")
    providers = {
        name: _provider(f"{path}: provider {name!r}", name, entry)
        for name, entry in _section(path, document, "providers").items()
    }
    return {
        name: _agent(f"{path}: agent {name!r}", name, entry, providers)
        for name, entry in _section(path, document, "agents").items()
    }


class _UniqueKeys(yaml.SafeLoader):
    """YAML in which a name that occurs twice is an error; PyYAML keeps the last one silently."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = [self.construct_object(key, deep=True) for key, _ in node.value]
        if repeated := [name for name in names if names.count(name) > 1]:
            raise yaml.constructor.ConstructorError(None, None, f"{repeated[0]!r} occurs twice", node.start_mark)
        return super().construct_mapping(node, deep)


def _section(path: Path, document: Mapping[str, Any], section: str) -> dict[str, Any]:
    entries = document[section]
    if not isinstance(entries, dict) or not entries:
        raise AgentSettingsError(f"{path}: {section!r} must map names to settings.")
    for name, entry in entries.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise AgentSettingsError(
                f"{path}: {name!r} in {section!r} is no name; use letters, digits, dots, hyphens and underscores."
            )
        if not isinstance(entry, dict):
            raise AgentSettingsError(f"{path}: {name!r} in {section!r} must be a mapping of settings.")
    return entries


def _only(where: str, entry: Mapping[str, Any], known: set[str]) -> None:
    if unknown := sorted(map(str, entry.keys() - known)):
        raise AgentSettingsError(
            f"{where} has unknown settings {', '.join(unknown)}; known are {', '.join(sorted(known))}."
        )


def _provider(where: str, name: str, entry: Mapping[str, Any]) -> Provider:
    _only(where, entry, {item.name for item in fields(Provider)} - {"name"})
    for setting in ("requests_per_minute", "tokens_per_minute", "max_in_flight"):
        value = entry.get(setting)
        if value is None and setting != "max_in_flight":
            continue
        if setting in entry and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise AgentSettingsError(f"{where}: {setting} is {value!r}; write a whole number of at least 1.")
    timeout = entry.get("timeout_s", Provider.timeout_s)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0:
        raise AgentSettingsError(f"{where}: timeout_s is {timeout!r}; write seconds above 0.")
    endpoint = entry.get("endpoint")
    if endpoint is not None and not (isinstance(endpoint, str) and endpoint.startswith(("http://", "https://"))):
        raise AgentSettingsError(
            f"{where}: endpoint is {endpoint!r}; write an address that starts with https:// or http://."
        )
    if endpoint is not None and ("@" in endpoint or "?" in endpoint):
        raise AgentSettingsError(
            f"{where}: endpoint holds a user name, a password or a query, which would be recorded. "
            "Write the plain address and name the key's environment variable in key_env."
        )
    key_env = entry.get("key_env")
    if key_env is not None and not (isinstance(key_env, str) and _VARIABLE.fullmatch(key_env)):
        # The value is not repeated: it may be the key itself.
        raise AgentSettingsError(
            f"{where}: key_env must be the NAME of an environment variable, never a key. "
            "If a key was written here, remove it and replace it at the provider."
        )
    return Provider(name=name, **entry)


def _agent(where: str, name: str, entry: Mapping[str, Any], providers: Mapping[str, Provider]) -> Agent:
    _only(where, entry, {"model", "provider", "parameters", "price"})
    model = entry.get("model")
    if not isinstance(model, str) or "/" not in model:
        raise AgentSettingsError(f"{where}: model is {model!r}; write a LiteLLM model string such as openai/gpt-5.5.")
    provider = providers.get(entry.get("provider", ""))
    if provider is None:
        raise AgentSettingsError(
            f"{where}: provider is {entry.get('provider')!r}; declared are {', '.join(providers)}."
        )
    parameters = entry.get("parameters") or {}
    if not isinstance(parameters, dict):
        raise AgentSettingsError(f"{where}: parameters must be a mapping such as {{temperature: 0}}.")
    check_parameters(where, parameters)
    return Agent(name, model, provider, MappingProxyType(dict(parameters)), _price(where, entry.get("price")))


def check_parameters(where: str, parameters: Mapping[str, Any]) -> None:
    """Raises AgentSettingsError when sampling parameters hold something that the run layer itself decides."""
    if reserved := sorted(_RESERVED & parameters.keys()):
        raise AgentSettingsError(
            f"{where}: {', '.join(reserved)} cannot be a sampling parameter; the run layer sets it. Remove it."
        )


def _price(where: str, entry: Any) -> PriceOverride | None:
    if entry is None:
        return None
    names = {item.name for item in fields(PriceOverride)}
    if not isinstance(entry, dict) or not {"input", "output"} <= entry.keys() or entry.keys() - names:
        raise AgentSettingsError(
            f"{where}: price needs input and output (and may have cached_input), in USD per million tokens."
        )
    try:
        price = PriceOverride(**{name: Decimal(str(value)) for name, value in entry.items() if value is not None})
    except (InvalidOperation, TypeError):
        raise AgentSettingsError(f"{where}: price holds something that is not a number.") from None
    if any(value is not None and (not value.is_finite() or value < 0) for value in vars(price).values()):
        raise AgentSettingsError(f"{where}: a price cannot be negative.")
    return price
