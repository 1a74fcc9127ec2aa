"""Bodies as the providers word them; what each means."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
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
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    failure = judge(Response(status, raw, named, error="raised"), provider=provider, model=f"{provider}/m")
    assert failure is not None
    return failure


def openai_error(message: str, code: str | None = None, kind: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def anthropic_error(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


QUOTA = "You exceeded your current quota, please check your plan and billing details."
CREDIT = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade."


@pytest.mark.parametrize(
    ("provider", "status", "body"),
    [
        ("openai", 429, openai_error(QUOTA, "insufficient_quota", "insufficient_quota")),
        ("openai", 429, openai_error("Billing hard limit has been reached", "billing_hard_limit_reached")),
        (
            "openai",
            429,
            openai_error("Your account is not active, please check your billing details", "billing_not_active"),
        ),
        ("openai", 400, openai_error("Billing hard limit has been reached", "billing_hard_limit_reached")),
        ("anthropic", 400, anthropic_error("invalid_request_error", CREDIT)),
        ("anthropic", 402, anthropic_error("billing_error", "There is a problem with your billing.")),
        ("anthropic", 403, anthropic_error("permission_error", CREDIT)),
        ("deepseek", 402, openai_error("Insufficient Balance", "invalid_request_error", "unknown_error")),
        ("openrouter", 402, {"error": {"code": 402, "message": "Insufficient credits. Add more using the settings."}}),
        (
            "openrouter",
            402,
            {"error": {"code": 402, "message": "This request requires more credits, or fewer max_tokens."}},
        ),
        ("openrouter", 200, {"error": {"code": 402, "message": "Insufficient credits"}, "user_id": "u"}),
        ("openrouter", 403, {"error": {"code": 403, "message": "Key limit exceeded (total limit)."}}),
        ("mistral", 402, {"detail": "Payment required"}),
        ("together_ai", 402, b"<html>402</html>"),
    ],
)
def test_an_empty_account_halts_its_provider_however_it_is_worded(provider: str, status: int, body: Any) -> None:
    failure = meaning(provider, status, body, retry_after="1")
    assert (failure.kind, failure.code, failure.may_be_paid) == ("provider", "credit_exhausted", False)
    assert failure.remedy == f"Add credit to the account of provider {provider}"


@pytest.mark.parametrize(
    ("provider", "status", "body", "kind", "code"),
    [
        ("openai", 401, openai_error("Incorrect API key provided: sk-1***9.", "invalid_api_key"), "provider", "key_refused"),
        ("anthropic", 401, anthropic_error("authentication_error", "invalid x-api-key"), "provider", "key_refused"),
        ("mistral", 401, {"detail": "Unauthorized"}, "provider", "key_refused"),
        ("gemini", 400, {"error": {"code": 400, "message": "API key not valid."}}, "provider", "key_refused"),
        (
            "openai",
            429,
            openai_error("Rate limit reached for m on requests per day (RPD): Limit 200, Used 200. Try again in 7m12s."),
            "provider",
            "quota_of_the_day",
        ),
        (
            "gemini",
            429,
            {"error": {"message": QUOTA, "details": [{"quotaId": "GenerateRequestsPerDayPerModel"}, {"retryDelay": "9s"}]}},
            "provider",
            "quota_of_the_day",
        ),
        ("openrouter", 429, {"error": {"message": "Rate limit exceeded: free-models-per-day"}}, "provider", "quota_of_the_day"),
        (
            "gemini",
            429,
            {"error": {"message": QUOTA, "details": [{"quotaId": "GenerateRequestsPerMinutePerModel"}]}},
            "transient",
            "rate_limited",
        ),
        ("openai", 429, openai_error("Rate limit reached for m on tokens per min (TPM)", "rate_limit_exceeded"), "transient", "rate_limited"),
        ("mistral", 429, {"message": "Service tier capacity exceeded for this model."}, "transient", "overloaded"),
        ("anthropic", 529, anthropic_error("overloaded_error", "Overloaded"), "transient", "overloaded"),
        ("openai", 500, openai_error("The server had an error"), "transient", "provider_error"),
        ("openai", 503, b"<html>Service Unavailable</html>", "transient", "provider_error"),
        ("hosted_vllm", 502, b"", "transient", "provider_error"),
        ("openrouter", 200, {"error": {"code": 502, "message": "Provider returned error"}}, "transient", "provider_error"),
        ("openrouter", 200, {"error": "upstream"}, "transient", "provider_error"),
        ("openai", 408, b"", "transient", "provider_error"),
        (
            "openai",
            400,
            openai_error("This model's maximum context length is 8192 tokens.", "context_length_exceeded"),
            "item",
            "context_length",
        ),
        ("anthropic", 400, anthropic_error("invalid_request_error", "prompt is too long: 210000 tokens"), "item", "context_length"),
        ("mistral", 400, {"message": "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"}, "item", "context_length"),
        ("hosted_vllm", 400, {"message": "This model's maximum context length is 4096 tokens."}, "item", "context_length"),
        ("openai", 413, b"", "item", "context_length"),
        ("openai", 400, openai_error("Your request was rejected as a result of our safety system.", "content_policy_violation"), "item", "content_filter"),
        ("deepseek", 400, openai_error("Content Exists Risk"), "item", "content_filter"),
        ("openrouter", 403, {"error": {"message": "Your chosen model requires moderation and your input was flagged"}}, "item", "content_filter"),
        ("openai", 400, openai_error("Unsupported value: temperature", "unsupported_value"), "item", "bad_request"),
        ("openai", 404, openai_error("The model `m` does not exist or you do not have access", "model_not_found"), "agent", "model_unknown"),
        ("anthropic", 404, anthropic_error("not_found_error", "model: m"), "agent", "model_unknown"),
        ("ollama_chat", 404, {"error": "model 'm' not found, try pulling it first"}, "agent", "model_unknown"),
        ("mistral", 400, {"message": "Invalid model: m"}, "agent", "model_unknown"),
        ("openai", 404, b"404 page not found", "provider", "endpoint_unknown"),
        ("openai", 301, b"", "provider", "endpoint_unknown"),
        ("openai", 403, openai_error("Country, region, or territory not supported"), "provider", "not_permitted"),
        ("openai", 403, openai_error("Project does not have access to model m"), "agent", "not_permitted"),
    ],
)  # fmt: skip
def test_a_refusal_means_what_provider_status_and_body_say(
    provider: str, status: int, body: Any, kind: str, code: str
) -> None:
    failure = meaning(provider, status, body)
    assert (failure.kind, failure.code) == (kind, code)


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
    failure = meaning("openai", 429, openai_error("Rate limit reached"), retry_after="7200")
    assert (failure.kind, failure.code) == ("provider", "long_pause")
    assert "120 minutes" in failure.reason
