"""Real LiteLLM against the wire formats of the providers."""

import json
import os
import time
from dataclasses import replace

import httpx
import pytest

from ingest.run.agents import Agent
from ingest.run.call import CallRequest, Usage
from ingest.run.exchange import Exchange, Sent
from ingest.run.wire import LiteLLMWire, UnaskedRequest
from tests.ingest.run.conftest import MODELS, SECRET
from tests.ingest.run.provider_server import ProviderServer, Reply, answer, completion, error


def request(agent: Agent, text: str = "Speak.", **settings: object) -> CallRequest:
    return CallRequest(agent, ({"role": "user", "content": text},), "debate", **settings)


def send(wire: LiteLLMWire, asked: CallRequest) -> tuple[Exchange, list[Sent]]:
    sent: list[Sent] = []
    return wire.send(asked, sent.append), sent


@pytest.mark.parametrize("provider", MODELS)
def test_what_is_recorded_is_what_crossed_the_wire(
    provider: str, wire: LiteLLMWire, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    exchange, sent = send(wire, request(agents[provider], "Мир, 世界, “peace”"))
    [seen] = server.seen
    assert sent == [exchange.sent]
    assert sent[0].body == seen.body
    assert sent[0].url == server.url(provider).split(provider)[0] + seen.path[1:]
    assert exchange.body == answer(seen).body
    assert exchange.status == 200
    assert exchange.text == json_text(provider, exchange.body)
    assert exchange.finish_reason == "stop"
    assert seen.prompt == "Мир, 世界, “peace”"


def json_text(provider: str, body: bytes | None) -> str:
    raw = json.loads(body or b"")
    if provider == "anthropic":
        return raw["content"][0]["text"]
    return raw["message"]["content"] if provider == "ollama" else raw["choices"][0]["message"]["content"]


@pytest.mark.parametrize(
    ("provider", "usage"),
    [
        ("openai", Usage(120, 50, 20, None, 10)),
        ("anthropic", Usage(120, 50, 20, None, None)),
        ("deepseek", Usage(120, 50, 20, None, None)),
        ("mistral", Usage(120, 50, None, None, None)),
        ("hosted_vllm", Usage(120, 50, None, None, None)),
        ("ollama", Usage(120, 50, None, None, None)),
    ],
)
def test_tokens_are_those_that_the_provider_counted(
    provider: str, usage: Usage, wire: LiteLLMWire, agents: dict[str, Agent]
) -> None:
    assert send(wire, request(agents[provider]))[0].usage == usage


@pytest.mark.parametrize("provider", ["openai", "deepseek", "mistral", "hosted_vllm", "openrouter", "ollama"])
def test_missing_usage_is_unknown_and_not_counted_by_somebody_else(
    provider: str, wire: LiteLLMWire, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    server.replies[provider].append(Reply(body=completion(provider, "m", "A speech.", usage=None)))
    exchange, _ = send(wire, request(agents[provider]))
    assert exchange.text == "A speech."
    assert exchange.usage == Usage()


def test_sampling_parameters_and_the_schema_reach_the_provider(
    wire: LiteLLMWire, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    schema = {"type": "object", "properties": {"claim": {"type": "string"}}, "required": ["claim"]}
    send(wire, request(agents["hosted_vllm"], parameters={"temperature": 0, "top_p": 0.9}, response_schema=schema))
    body = server.seen[0].json
    assert (body["temperature"], body["top_p"], body["max_tokens"]) == (0, 0.9, 200)
    assert body["response_format"]["json_schema"]["schema"]["properties"] == schema["properties"]


def test_providers_defaults_are_left_to_the_provider(
    wire: LiteLLMWire, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    for name in ("openai", "deepseek", "mistral", "hosted_vllm"):
        send(wire, request(replace(agents[name], parameters={})))
    assert [set(seen.json) - {"stream"} for seen in server.seen] == [{"model", "messages"}] * 4


@pytest.mark.parametrize("provider", MODELS)
@pytest.mark.parametrize("status", [400, 401, 408, 409, 422, 429, 500, 503])
def test_an_attempt_is_one_request_whatever_comes_back(
    provider: str, status: int, wire: LiteLLMWire, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    server.replies[provider].append(error(status, {"error": {"message": "no"}}, retry_after="0"))
    exchange, sent = send(wire, request(agents[provider]))
    assert (len(server.seen), len(sent)) == (1, 1)
    assert exchange.status == status
    assert exchange.body == b'{"error": {"message": "no"}}'
    assert exchange.text is None


def test_a_layer_that_repairs_and_repeats_a_request_is_stopped(
    wire: LiteLLMWire, server: ProviderServer, agents: dict[str, Agent], monkeypatch: pytest.MonkeyPatch
) -> None:
    # LiteLLM's OpenAI client rewrites the messages and asks again when it reads this sentence.
    monkeypatch.setenv("EXPERIMENTAL_OPENAI_BASE_LLM_HTTP_HANDLER", "False")
    said = "Conversation roles must alternate user/assistant"
    server.replies["openai"].extend([error(400, {"error": {"message": said}})] * 3)
    import openai

    class OpenAIWire(LiteLLMWire):
        def __init__(self) -> None:
            super().__init__()
            self._handler = openai.OpenAI(api_key=SECRET, base_url=server.url("openai"), http_client=self._client)

    two = ({"role": "user", "content": "One."}, {"role": "user", "content": "Two."})
    exchange, _ = send(OpenAIWire(), replace(request(agents["openai"]), messages=two))
    assert len(server.seen) == 1
    assert exchange.status == 400


def test_an_answer_that_took_another_way_is_not_used(
    wire: LiteLLMWire, agents: dict[str, Agent], monkeypatch: pytest.MonkeyPatch
) -> None:
    import litellm

    monkeypatch.setattr(litellm, "completion", lambda **_: "an answer from nowhere")
    with pytest.raises(UnaskedRequest, match="not recorded"):
        send(wire, request(agents["openai"]))


def test_nothing_leaves_when_it_cannot_be_recorded(
    wire: LiteLLMWire, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    def disk_full(_: Sent) -> None:
        raise OSError("no space left")

    for name in MODELS:
        with pytest.raises(OSError, match="no space left"):
            wire.send(request(agents[name]), disk_full)
    assert server.seen == []


@pytest.mark.parametrize("provider", ["openai", "anthropic", "mistral"])
def test_what_came_before_a_disconnect_is_kept(
    provider: str, wire: LiteLLMWire, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    server.replies[provider].append(Reply(body=completion(provider, "m", "A speech."), cut=40))
    exchange, _ = send(wire, request(agents[provider]))
    assert exchange.body == completion(provider, "m", "A speech.")[:40]
    assert exchange.error is not None and "RemoteProtocolError" in exchange.error
    assert exchange.text is None


def test_no_response_at_all_is_told_from_an_empty_one(
    wire: LiteLLMWire, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    server.replies["openai"].append(Reply(drop=True))
    exchange, _ = send(wire, request(agents["openai"]))
    assert (exchange.status, exchange.body) == (None, None)
    assert exchange.latency_s is not None


def test_a_provider_that_takes_too_long_is_left(
    wire: LiteLLMWire, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    slow = replace(agents["openai"], provider=replace(agents["openai"].provider, timeout_s=0.2))
    server.replies["openai"].append(Reply(delay_s=3))
    started = time.monotonic()
    exchange, _ = send(wire, request(slow))
    assert time.monotonic() - started < 2
    assert exchange.error is not None and "Timeout" in exchange.error


def test_a_parameter_that_the_model_does_not_take_is_said_before_anything_leaves(
    wire: LiteLLMWire, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    exchange, sent = send(wire, request(agents["openai"], parameters={"top_k": [], "logit_bias": object()}))
    assert (exchange.sent, sent, server.seen) == (None, [], [])
    assert exchange.error


def test_a_key_that_a_provider_repeats_is_not_kept(
    wire: LiteLLMWire, server: ProviderServer, agents: dict[str, Agent]
) -> None:
    headers = {"set-cookie": "session=1", "x-api-key": SECRET, "x-echo": f"Bearer {SECRET}", "x-request-id": "r1"}
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {SECRET}"}}).encode()
    server.replies["openai"].append(Reply(401, body, headers))
    exchange, sent = send(wire, request(agents["openai"]))
    assert SECRET in server.seen[0].headers["authorization"]
    assert SECRET not in repr(exchange) + repr(sent)
    assert exchange.headers["x-request-id"] == "r1"
    assert not {"set-cookie", "x-api-key"} & exchange.headers.keys()


def test_a_server_without_a_key_is_sent_nobody_elses(
    wire: LiteLLMWire, server: ProviderServer, agents: dict[str, Agent], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "HOSTED_VLLM_API_KEY", "OPENROUTER_API_KEY", "OLLAMA_API_KEY"):
        monkeypatch.setenv(name, SECRET)
    for name in ("openai", "hosted_vllm", "ollama", "openrouter"):
        send(wire, request(replace(agents[name], provider=replace(agents[name].provider, key_env=None))))
    assert SECRET not in repr([seen.headers for seen in server.seen])


def test_a_proxy_of_the_environment_is_used(
    wire: LiteLLMWire, server: ProviderServer, agents: dict[str, Agent], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{server.port}")
    monkeypatch.setenv("no_proxy", "")
    far = replace(
        agents["openai"], provider=replace(agents["openai"].provider, endpoint="http://far.invalid/openai/v1")
    )
    exchange, _ = send(wire, request(far))
    assert server.seen[0].path.startswith("http://far.invalid/")
    assert exchange.sent is not None and exchange.sent.url == "http://far.invalid/openai/v1/chat/completions"


def test_litellm_fetched_no_price_map_and_reads_no_cache() -> None:
    import litellm

    assert os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"
    assert litellm.cache is None
    assert litellm.num_retries is None
    assert litellm.model_fallbacks is None


def test_the_transport_belongs_to_one_attempt(wire: LiteLLMWire) -> None:
    with pytest.raises(LookupError):
        wire._client.get("http://127.0.0.1:9/")
    assert isinstance(wire._client, httpx.Client)
