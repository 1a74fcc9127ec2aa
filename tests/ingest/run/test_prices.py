"""Costs: exact where they are known, None where they are not, and plans whose totals are the sums of their calls."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.run.agents import Agent, PriceOverride, Provider, load_agents
from ingest.run.call import CallRequest, Usage
from ingest.run.estimate import (
    PlannedCalls,
    continuation_call,
    debate_calls,
    expected_call,
    planned_calls,
    speech_bytes,
    total,
)
from ingest.run.planned import PlannedContinuation, PlannedSession
from ingest.run.prices import PriceTableError, cost_of, load_prices, price_of, worst_case_cost
from ingest.run.prompts import load_pack, render_turn
from tests.ingest.fake_caller import agent

PACK = load_pack()
OPUS = "anthropic/claude-opus-4-7"


def test_the_shipped_table_is_dated_and_prices_the_four_debate_agents() -> None:
    table = load_prices()
    assert table.as_of.year >= 2026
    assert table.source
    declared = load_agents()
    assert all(price_of(declared[name].model) for name in ("gpt-5.5", "claude", "deepseek", "mistral"))
    assert price_of(declared["llama-4-scout"].model) is None


def test_a_cost_is_input_cached_input_cache_writes_and_output_each_at_its_price() -> None:
    # 5, 0.5, 6.25 and 25 dollars a million: 600 plain, 300 cached, 100 written, 50 out.
    usage = Usage(1000, 50, cached_input_tokens=300, cache_write_tokens=100, reasoning_tokens=40)
    assert cost_of(OPUS, usage) == Decimal("0.003000") + Decimal("0.000150") + Decimal("0.000625") + Decimal("0.001250")


@pytest.mark.parametrize(
    ("model", "usage"),
    [
        ("hosted_vllm/llama", Usage(10, 10)),
        (OPUS, Usage(None, 10)),
        (OPUS, Usage(10, None)),
        ("openai/gpt-5.5", Usage(272_001, 10)),
        ("openai/gpt-5.5", Usage(1000, 10, cache_write_tokens=5)),
    ],
)
def test_an_unknown_price_or_usage_has_no_cost_and_never_none_at_all(model: str, usage: Usage) -> None:
    assert cost_of(model, usage) is None


def test_an_agents_own_price_goes_before_the_tables_and_may_be_zero() -> None:
    assert cost_of(OPUS, Usage(1_000_000, 0), PriceOverride(Decimal(1), Decimal(2))) == 1
    assert cost_of("hosted_vllm/llama", Usage(5, 5), PriceOverride(Decimal(0), Decimal(0))) == 0


def test_the_worst_case_is_never_below_a_cost_that_fits_it() -> None:
    for cached, written in ((0, 0), (700, 0), (0, 700), (300, 300)):
        usage = Usage(700, 90, cached_input_tokens=cached, cache_write_tokens=min(written, 700 - cached))
        worst = worst_case_cost(OPUS, 700, 90)
        cost = cost_of(OPUS, usage)
        assert worst is not None
        assert cost is not None
        assert cost <= worst
    assert worst_case_cost("hosted_vllm/llama", 700, 90) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("as_of: 2026-01-01\nsource: x\n", "must have as_of, source and models"),
        ("as_of: soon\nsource: x\nmodels: {}\n", "YYYY-MM-DD"),
        ("as_of: 2026-01-01\nsource: x\nmodels: {a/b: {input: 1}}\n", "a/b needs input and output"),
        ("as_of: 2026-01-01\nsource: x\nmodels: {a/b: {input: 1, output: -1}}\n", "a/b has a price below 0"),
        ("as_of: 2026-01-01\nsource: x\nmodels: {a/b: {input: 1, output: cheap}}\n", "a/b has a price that is not"),
        ("as_of: 2026-01-01\nsource: x\nmodels: {a/b: {input: 1, output: 1, cache: 1}}\n", "unknown setting cache"),
        ("as_of: 2026-01-01\nsource: x\nmodels: {a/b: {input: 1, output: 1, up_to_input_tokens: 0}}\n", "up_to_input"),
        ("as_of: [", "not YAML"),
    ],
)
def test_a_price_table_that_cannot_be_used_names_the_model(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(text)
    with pytest.raises(PriceTableError, match=told):
        load_prices(file)


def session(language: str = "en", condition: str = "baseline") -> PlannedSession:
    roles = {"pro_1": "a", "con_1": "b", "pro_2": "c", "con_2": "d"}
    return PlannedSession("S", "M", "A motion.", language, condition, 1, roles)


AGENTS = {name: agent(name) for name in "abcd"}


@pytest.mark.parametrize("language", ["en", "ar", "ru", "zh"])
def test_an_expected_debate_call_is_as_long_as_a_prompt_with_speeches_of_the_expected_length(language: str) -> None:
    calls = debate_calls(PACK, session(language), AGENTS)
    speeches = ["x" * speech_bytes(language, turn) for turn in range(1, 9)]
    assert [call.agent.name for call in calls] == ["a", "b", "a", "b", "c", "d", "c", "d"]
    for turn, call in enumerate(calls, start=1):
        prompt = render_turn(PACK, session(language), turn, speeches[: turn - 1])
        assert call.input_bytes == pytest.approx(len(prompt.encode()), rel=0.1)
        assert call.output_bytes == len(speeches[turn - 1])


def test_a_continuation_is_one_call_to_its_own_agent() -> None:
    call = continuation_call(PACK, PlannedContinuation(session(), 8, "b", {"temperature": 0.2}), AGENTS)
    assert call.agent.name == "b"
    assert call.input_bytes == debate_calls(PACK, session(), AGENTS)[7].input_bytes


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(["debate", "extraction"]), st.integers(0, 5000)),
        max_size=40,
    )
)
def test_a_plans_totals_are_the_sums_of_its_calls(drawn: list[tuple]) -> None:
    agents = {"a": Agent("a", OPUS, Provider("anthropic")), "b": agent("b")}
    calls = [
        expected_call(CallRequest(agents[name], ({"role": "user", "content": "x" * size},), stage), size)
        for name, stage, size in drawn
    ]
    planned = planned_calls("phase", calls)
    sum_ = total(planned)
    priced = [cost_of(OPUS, Usage(-(-size // 4), -(-size // 4))) for name, _, size in drawn if name == "a"]
    assert sum_.n_calls == len(drawn)
    assert sum_.input_tokens == sum_.output_tokens == sum(-(-size // 4) for _, _, size in drawn)
    assert sum_.known_cost == sum((cost for cost in priced if cost is not None), Decimal(0))
    assert sum_.n_unpriced == sum(name == "b" for name, _, _ in drawn)
    assert {(one.agent, one.stage) for one in planned} == {(name, stage) for name, stage, _ in drawn}


def test_the_cost_of_calls_without_a_price_is_none_and_not_a_part_of_the_total() -> None:
    known = PlannedCalls("p", "debate", "x", "x", 3, 30, 30, Decimal("1.5"))
    unknown = PlannedCalls("p", "debate", "y", "y", 4, 40, 40, None)
    sum_ = total([known, unknown])
    assert (sum_.known_cost, sum_.n_unpriced, sum_.n_calls) == (Decimal("1.5"), 4, 7)
