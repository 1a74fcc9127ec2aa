"""Bodies as the providers word them; what each means."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ingest.run.failures import Failure, judge, retry_after
from tests.ingest.run.provider_server import completion


@dataclass
class Response:
    status: int | None
    body: bytes | None = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    latency_s: float | None = 0.1
    error: str | None = None
    text: str | None = None


def meaning(provider: str, status: int, body: Any, **headers: str) -> Failure:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    failure = judge(Response(status, raw, named, error="raised"), provider=provider, model=f"{provider}/m")
    assert failure is not None
    return failure


CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "provider_errors.jsonl").read_text(encoding="utf-8").splitlines()
]


def names(case: dict[str, Any]) -> str:
    return f"{case['provider']}-{case['status']}-{case['code']}"


@pytest.mark.parametrize("case", CASES, ids=names)
def test_a_refusal_means_what_provider_status_and_body_say(case: dict[str, Any]) -> None:
    failure = meaning(case["provider"], case["status"], case["body"])
    assert (failure.kind, failure.code) == (case["kind"], case["code"])
    # A fault behind the gateway may have cost something; a refusal did not.
    assert failure.kind == "transient" or not failure.may_be_paid


@pytest.mark.parametrize("case", [case for case in CASES if case["code"] == "credit_exhausted"], ids=names)
def test_an_empty_account_halts_its_provider_even_with_a_short_retry_hint(case: dict[str, Any]) -> None:
    failure = meaning(case["provider"], case["status"], case["body"], retry_after="1")
    assert failure.kind == "provider"
    assert failure.remedy == f"Add credit to the account of provider {case['provider']}"


def test_the_reason_quotes_the_provider() -> None:
    failure = meaning("mistral", 401, {"detail": "Unauthorized"})
    assert failure.reason == "The key is not accepted. mistral says (401): Unauthorized"


def _answer(text: str | None, **changes: Any) -> Failure | None:
    body = completion("openai", "m", text, **changes)
    return judge(Response(200, body, text=text), provider="openai", model="openai/m")


def test_a_text_that_ended_by_itself_is_the_answer() -> None:
    assert _answer("A speech.") is None


@pytest.mark.parametrize(
    ("text", "changes", "code"),
    [
        (None, {}, "empty"),
        ("", {}, "empty"),
        (" \n", {}, "empty"),
        ("Half a", {"finish": "length"}, "truncated"),
        ("Half a", {"finish": "model_length"}, "truncated"),
        ("Some", {"finish": "content_filter"}, "content_filter"),
        (None, {"message": {"refusal": "I cannot help with that."}}, "refusal"),
        (None, {"message": {"reasoning_content": "Let me think."}}, "empty"),
    ],
)
def test_an_answer_without_a_whole_text_is_no_turn_and_is_paid(text: str | None, changes: dict, code: str) -> None:
    failure = _answer(text, **changes)
    assert failure is not None
    assert (failure.kind, failure.code, failure.may_be_paid) == ("item", code, True)


def test_a_refusal_of_claude_is_one() -> None:
    body = completion("anthropic", "m", "I", finish="refusal")
    failure = judge(Response(200, body, text="I"), provider="anthropic", model="anthropic/m")
    assert failure is not None and failure.code == "refusal"


@pytest.mark.parametrize("finish", ["insufficient_system_resource", "error"])
def test_an_answer_that_the_provider_broke_off_is_asked_for_again(finish: str) -> None:
    failure = _answer("Half a", finish=finish)
    assert failure is not None and failure.kind == "transient"


def test_an_error_in_a_choice_is_no_text() -> None:
    raw = {"choices": [{"error": {"code": 502, "message": "upstream died"}, "message": {"content": "Error: 502"}}]}
    failure = judge(Response(200, json.dumps(raw).encode(), text="Error: 502"), provider="openrouter", model="m")
    assert failure is not None and failure.kind == "transient" and "upstream died" in failure.reason


@pytest.mark.parametrize("text", ["Another text.", "A speech. And more."])
def test_a_text_that_the_provider_did_not_send_is_refused(text: str) -> None:
    response = Response(200, completion("openai", "m", "A speech."), text=text)
    failure = judge(response, provider="openai", model="m")
    assert failure is not None and failure.code == "altered"


def test_what_follows_a_reasoning_block_and_joined_blocks_are_what_was_sent() -> None:
    thought = Response(200, completion("openai", "m", "<think>Hm.</think>\n\nA speech."), text="A speech.")
    assert judge(thought, provider="openai", model="m") is None
    raw = {"content": [{"type": "text", "text": "A "}, {"type": "text", "text": "speech."}], "stop_reason": "end_turn"}
    assert judge(Response(200, json.dumps(raw).encode(), text="A speech."), provider="anthropic", model="m") is None


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"choices": [{"mess'])
def test_a_body_that_is_no_json_is_asked_for_again(body: bytes) -> None:
    failure = judge(Response(200, body, error="ReadError"), provider="openai", model="m")
    assert failure is not None and failure.kind == "transient" and failure.may_be_paid


def test_no_response_may_have_been_paid_and_an_unsent_request_was_not() -> None:
    broken = judge(Response(None, None, error="ConnectError"), provider="openai", model="m")
    assert broken is not None and (broken.kind, broken.may_be_paid) == ("transient", True)
    unsent = judge(Response(None, None, latency_s=None, error="UnsupportedParams"), provider="openai", model="m")
    assert unsent is not None and (unsent.kind, unsent.code, unsent.may_be_paid) == ("item", "bad_request", False)


OURS = datetime(2026, 5, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        # The provider's clock is an hour ahead of ours, or behind it: only its own two clocks are compared.
        ({"date": "Fri, 01 May 2026 13:00:00 GMT", "retry-after": "Fri, 01 May 2026 13:00:20 GMT"}, 20.0),
        ({"date": "Fri, 01 May 2026 11:00:00 GMT", "retry-after": "Fri, 01 May 2026 11:00:20 GMT"}, 20.0),
        ({"date": "Fri, 01 May 2026 13:00:00 GMT", "retry-after": "Fri, 01 May 2026 12:59:00 GMT"}, 0.0),
        # Without the provider's clock a date is believed for a minute at most.
        ({"retry-after": "Fri, 01 May 2026 12:00:20 GMT"}, 20.0),
        ({"retry-after": "Fri, 01 May 2026 13:00:20 GMT"}, 60.0),
        ({"retry-after": "Fri, 01 May 2026 11:00:20 GMT"}, 0.0),
    ],
)
def test_a_pause_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, OURS) == seconds


def test_a_pause_of_hours_is_for_a_person_to_wait() -> None:
    failure = meaning("openai", 429, {"error": {"message": "Rate limit reached"}}, retry_after="7200")
    assert (failure.kind, failure.code) == ("provider", "long_pause")
    assert "120 minutes" in failure.reason
