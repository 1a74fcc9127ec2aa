from decimal import Decimal
from pathlib import Path

import pytest

from ingest.run.agents import Agent, AgentSettingsError, PriceOverride, Provider, load_agents

FILE = """
providers:
  here:
    endpoint: http://localhost:9000/v1
    key_env: MY_KEY
    requests_per_minute: 60
    max_in_flight: 3
agents:
  mine:
    provider: here
    model: hosted_vllm/my/model
    parameters: {temperature: 0, max_tokens: 10}
    price: {input: 0.5, output: 1.5}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "agents.yaml"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_the_papers_four_agents_and_two_extractors_are_declared() -> None:
    models = {name: agent.model for name, agent in load_agents().items()}
    assert models == {
        "gpt-5.5": "openai/gpt-5.5",
        "claude": "anthropic/claude-opus-4-7",
        "deepseek": "deepseek/deepseek-chat",
        "mistral": "mistral/mistral-large-latest",
        "llama-4-scout": "hosted_vllm/meta-llama/Llama-4-Scout-17B-16E-Instruct",
        "deepseek-chat": "deepseek/deepseek-chat",
    }


def test_every_declared_agent_has_an_endpoint_of_its_own_and_a_longest_answer() -> None:
    # An endpoint that LiteLLM chooses may change with its version, and without a longest answer no worst case is known.
    for agent in load_agents().values():
        assert agent.provider.endpoint is not None
        assert {"max_tokens", "max_completion_tokens"} & agent.parameters.keys()


def test_a_file_says_all_there_is_to_an_agent(file: Path) -> None:
    provider = Provider("here", "http://localhost:9000/v1", "MY_KEY", requests_per_minute=60, max_in_flight=3)
    parameters = {"temperature": 0, "max_tokens": 10}
    price = PriceOverride(Decimal("0.5"), Decimal("1.5"))
    assert load_agents(file) == {"mine": Agent("mine", "hosted_vllm/my/model", provider, parameters, price)}


@pytest.mark.parametrize(
    ("wrong", "right", "said"),
    [
        ("provider: there", "provider: here", "provider is 'there'; declared are here"),
        ("model: my-model", "model: hosted_vllm/my/model", "LiteLLM model string"),
        ("max_in_flight: 0", "max_in_flight: 3", "max_in_flight is 0"),
        ("max_in_flight: yes", "max_in_flight: 3", "max_in_flight is True"),
        ("requests_a_minute: 60", "requests_per_minute: 60", "unknown settings requests_a_minute"),
        ("parameters: {stream: true}", "parameters: {temperature: 0, max_tokens: 10}", "stream cannot be"),
        ("price: {input: 1}", "price: {input: 0.5, output: 1.5}", "price needs input and output"),
        ("price: {input: -1, output: 1}", "price: {input: 0.5, output: 1.5}", "cannot be negative"),
        ("endpoint: localhost:9000", "endpoint: http://localhost:9000/v1", "starts with https"),
        ("endpoint: http://me:pw@host/v1", "endpoint: http://localhost:9000/v1", "user name, a password"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(file: Path, wrong: str, right: str, said: str) -> None:
    text = FILE.replace(right, wrong)
    assert text != FILE
    file.write_text(text, encoding="utf-8")
    with pytest.raises(AgentSettingsError, match=said) as raised:
        load_agents(file)
    assert str(file) in str(raised.value)


def test_a_key_written_where_its_name_belongs_is_refused_and_not_repeated(file: Path) -> None:
    file.write_text(FILE.replace("MY_KEY", "sk-proj-123"), encoding="utf-8")
    with pytest.raises(AgentSettingsError, match="NAME of an environment variable") as raised:
        load_agents(file)
    assert "sk-proj-123" not in str(raised.value)


def test_a_name_declared_twice_is_refused(file: Path) -> None:
    file.write_text(FILE + "  mine:\n    provider: here\n    model: openai/other\n", encoding="utf-8")
    with pytest.raises(AgentSettingsError, match="mine"):
        load_agents(file)
