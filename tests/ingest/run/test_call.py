from collections.abc import Callable
from dataclasses import replace

import pytest

from ingest.run.agents import Agent, AgentSettingsError, Provider
from ingest.run.call import CallRequest

AGENT = Agent("a", "openai/gpt-5.5", Provider("openai", "https://example.org/v1", "KEY"), {"temperature": 0.7})
REQUEST = CallRequest(
    AGENT, ({"role": "user", "content": "Speak."},), "debate", {"top_p": 0.9}, {"type": "object"}, 1, {"turn_index": 1}
)


def _agent(**changes: object) -> Callable[[CallRequest], CallRequest]:
    return lambda request: replace(request, agent=replace(request.agent, **changes))


def _provider(**changes: object) -> Callable[[CallRequest], CallRequest]:
    return lambda request: _agent(provider=replace(request.agent.provider, **changes))(request)


def _request(**changes: object) -> Callable[[CallRequest], CallRequest]:
    return lambda request: replace(request, **changes)


@pytest.mark.parametrize(
    "change",
    [
        _provider(name="other"),
        _provider(endpoint="https://example.net/v1"),
        _agent(model="openai/gpt-5.4"),
        _request(messages=({"role": "user", "content": "Speak!"},)),
        _request(messages=({"role": "system", "content": "Speak."},)),
        _agent(parameters={"temperature": 0.2}),
        _request(parameters={"top_p": 0.8}),
        _request(parameters={"top_p": 0.9, "seed": 1}),
        _request(response_schema=None),
        _request(response_schema={"type": "array"}),
        _request(repeat=2),
    ],
)
def test_whatever_an_answer_may_depend_on_changes_the_key(change: Callable[[CallRequest], CallRequest]) -> None:
    assert change(REQUEST).key != REQUEST.key


@pytest.mark.parametrize(
    "change",
    [
        _provider(key_env="OTHER"),
        _provider(requests_per_minute=1, tokens_per_minute=1, max_in_flight=1, timeout_s=1.0),
        _agent(name="b"),
        _request(stage="judge"),
        _request(subject={"turn_index": 2}),
        # The same parameter, said by the agent or by the call.
        lambda request: replace(
            request, agent=replace(AGENT, parameters={}), parameters={"temperature": 0.7, "top_p": 0.9}
        ),
    ],
)
def test_how_a_call_is_made_and_what_it_is_for_does_not(change: Callable[[CallRequest], CallRequest]) -> None:
    assert change(REQUEST).key == REQUEST.key


def test_the_key_stays_what_it_was_in_earlier_ledgers() -> None:
    # A changed recipe would pay for every answer again.
    assert REQUEST.key == "fa72be8230808a6e1f305d964fb4fc372dd8cf2acf08f2ed58fcb762951a3ed2"


@pytest.mark.parametrize("parameter", ["max_retries", "stream", "api_key", "fallbacks", "model", "extra_headers"])
def test_a_call_cannot_undo_the_record(parameter: str) -> None:
    with pytest.raises(AgentSettingsError, match=parameter):
        replace(REQUEST, parameters={parameter: 1})
