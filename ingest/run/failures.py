"""What a provider's response means: an answer, a wait, a hopeless item, or a provider that needs a person.

Decided by provider, status and body, never by an exception's class: one status means different things at different
providers (a 429 is a pause at most, and an empty account at OpenAI), and some send an error inside a 200.
"""

from __future__ import annotations

import email.utils
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

Kind = Literal["transient", "item", "provider", "agent"]

# A provider that asks for a longer pause than this has no more today: a person decides whether to wait.
LONGEST_WAIT_S = 900.0
# Waits from dates are only as good as both clocks; without the provider's own clock no more than this is believed.
LONGEST_UNCHECKED_WAIT_S = 60.0


class Response(Protocol):
    """What is judged. `status` None means that no response came, `latency_s` None that no request left.

    `error` says what broke, `text` is LiteLLM's reading of the body, None when it could not read it.
    """

    status: int | None
    headers: Mapping[str, str]
    body: bytes | None
    latency_s: float | None
    error: str | None
    text: str | None


@dataclass(frozen=True)
class Failure:
    """Why there is no usable answer.

    `kind` says what it concerns: `transient` this attempt, `item` this request, `provider` all requests of the
    account, `agent` all requests of this model. `wait_s` is the pause the provider asks for, None when it names none.
    `may_be_paid`: the provider may charge for it.
    """

    kind: Kind
    code: str
    reason: str
    remedy: str | None = None
    wait_s: float | None = None
    may_be_paid: bool = False


@dataclass(frozen=True)
class _Rule:
    """The first rule whose provider, status and wording fit decides. Absent conditions always fit."""

    kind: Kind
    code: str
    says: str | None = None
    statuses: frozenset[int] = frozenset()
    providers: frozenset[str] = frozenset()


_CREDIT = "There is no credit left."
_REASONS = {
    "credit_exhausted": _CREDIT,
    "key_refused": "The key is not accepted.",
    "quota_of_the_day": "The quota of the day is used up.",
    "not_permitted": "The account may not use this model or this region.",
    "model_unknown": "The provider does not know this model.",
    "endpoint_unknown": "The endpoint does not answer chat requests.",
    "context_length": "The request is longer than the model's context.",
    "content_filter": "The provider's content filter stopped it.",
    "bad_request": "The provider refuses the request as it is.",
    "rate_limited": "The provider asks to slow down.",
    "provider_error": "The provider has a fault.",
    "overloaded": "The provider is overloaded.",
}
_REMEDIES = {
    "credit_exhausted": "Add credit to the account of provider {provider}",
    "key_refused": "Put a valid key into the provider's environment variable",
    "quota_of_the_day": "Wait until the provider's next day, or have the quota of {provider} raised",
    "not_permitted": "Have the account of {provider} given access to {model}",
    "model_unknown": "Correct the model string {model} in the agents file",
    "endpoint_unknown": "Correct the endpoint of {provider} in the agents file",
}


def _rule(
    kind: Kind, code: str, says: str | None = None, *, status: tuple[int, ...] = (), at: tuple[str, ...] = ()
) -> _Rule:
    return _Rule(kind, code, says, frozenset(status), frozenset(at))


_RULES = (
    # A day's quota may come with a retry hint of seconds and in the words of an empty account: it is asked for first.
    _rule(
        "provider",
        "quota_of_the_day",
        r"per[ _-]?day|\b[RT]PD\b|daily (request|token|quota|limit|usage)",
        status=(402, 403, 429),
    ),
    # Gemini says of a minute's quota what OpenAI says of an empty account.
    _rule("transient", "rate_limited", r"exceeded your current quota", status=(429,), at=("gemini", "vertex_ai")),
    # OpenAI sends an empty account as 429, Anthropic as 400, others as 402 or 403.
    _rule(
        "provider",
        "credit_exhausted",
        r"insufficient[_ ](quota|credits?|balance|funds)|credit balance|billing[_ ](hard[_ ]limit|not[_ ]active)"
        r"|exceeded your current quota|billing_error|account (is )?not active|payment required|out of credits"
        r"|never purchased credits|requires more credits|no (remaining )?credits?\b|monthly (usage|spend)\w* limit"
        r"|spend(ing)? limit|key limit exceeded",
        status=(400, 402, 403, 429),
    ),
    _rule("provider", "credit_exhausted", status=(402,)),
    _rule("provider", "key_refused", status=(401,)),
    _rule(
        "provider",
        "key_refused",
        r"(invalid|incorrect|wrong|missing|expired|revoked|unauthorized)[ _]\w*[ _]?(api[ _]?)?key|api[ _]key not valid"
        r"|authentication",
        status=(400, 403),
    ),
    _rule("item", "content_filter", r"flagged|moderation|content[_ ]policy|content[_ ]filter", status=(403,)),
    _rule("provider", "not_permitted", r"country, region|territory", status=(403,)),
    _rule("agent", "not_permitted", status=(403,)),
    _rule(
        "item",
        "context_length",
        r"context[_ ]length|context window|maximum context|prompt is too long|too many (input )?tokens"
        r"|too large for model|exceeds? the (model's )?(maximum|max|limit)\w* .{0,40}tokens|input is too long",
        status=(400, 413, 422),
    ),
    _rule("item", "context_length", status=(413,)),
    _rule("item", "content_filter", r"content exists risk", status=(400,), at=("deepseek",)),
    _rule(
        "item",
        "content_filter",
        r"content[_ ]policy|content[_ ]filter|content management policy|data_inspection|moderation"
        r"|safety (system|polic)|usage polic",
        status=(400, 422, 451),
    ),
    _rule(
        "agent",
        "model_unknown",
        r"model_not_found|(model|engine)\b.{0,120}(not (found|exist|available|supported)|does not exist|unknown)"
        r"|(invalid|unknown|no such) model|not a valid model|not_found_error|no endpoints found",
        status=(400, 404, 422),
    ),
    _rule("provider", "endpoint_unknown", status=(301, 302, 303, 307, 308, 404, 405)),
    _rule("transient", "overloaded", r"overloaded|capacity", status=(429, 503, 529)),
    _rule("transient", "rate_limited", status=(429,)),
    _rule("transient", "provider_error", status=(408, 409, 425)),
    _rule("item", "bad_request", status=tuple(range(400, 500))),
    _rule("transient", "provider_error", status=tuple(range(500, 600))),
)

# Native words for how an answer ended, at all providers.
_CUT = {"length", "max_tokens", "model_length", "model_context_window_exceeded"}
_FILTERED = {"content_filter", "sensitive", "safety", "prohibited_content", "recitation"}
_BROKEN = {"error", "insufficient_system_resource", "abort", "engine_overloaded"}


def judge(response: Response, *, provider: str, model: str, now: datetime | None = None) -> Failure | None:
    """What a response means; None: its text is the answer.

    `provider` is LiteLLM's name of the API (the model string's first part). `now` is this machine's clock, for tests.
    """
    if response.status is None:
        return _unsent_or_broken(response)
    raw = _json(response.body)
    status = response.status
    error = raw.get("error") if isinstance(raw, dict) else None
    if status == 200 and error and not raw.get("choices"):
        # An error in a 200 says its status in its code; without one it is the provider's fault.
        code = error.get("code") if isinstance(error, dict) else None
        status = code if isinstance(code, int) and 400 <= code < 600 else 500
    if status != 200:
        return _refused(response, status, raw, provider, model, now)
    return _answered(response, raw)


def _unsent_or_broken(response: Response) -> Failure:
    if response.latency_s is None:
        return Failure(
            "item", "bad_request", f"The request was not sent: {response.error}", "Correct the agent's parameters"
        )
    # The connection may have broken after the request arrived.
    return Failure("transient", "connection", f"No response came ({response.error}).", may_be_paid=True)


def _refused(response: Response, status: int, raw: Any, provider: str, model: str, now: datetime | None) -> Failure:
    said = (response.body or b"").decode(errors="replace")
    for rule in _RULES:
        fits = (
            (not rule.statuses or status in rule.statuses)
            and (not rule.providers or provider in rule.providers)
            and (rule.says is None or re.search(rule.says, said, re.IGNORECASE | re.DOTALL))
        )
        if fits:
            break
    else:
        rule = _rule("transient", "provider_error")
    message = _message(raw) or said[:300].strip()
    reason = f"{_REASONS[rule.code]} {provider} says ({status}): {message}" if message else _REASONS[rule.code]
    remedy = _REMEDIES.get(rule.code, "").format(provider=provider, model=model) or None
    if rule.kind != "transient":
        return Failure(rule.kind, rule.code, reason, remedy)
    wait = retry_after(response.headers, now)
    if wait is not None and wait > LONGEST_WAIT_S:
        return Failure(
            "provider", "long_pause", f"{reason} It asks to wait {wait / 60:.0f} minutes.", "Wait that long", wait
        )
    # A gateway that times out may have reached the model.
    return Failure("transient", rule.code, reason, wait_s=wait, may_be_paid=status >= 500)


def _answered(response: Response, raw: Any) -> Failure | None:
    if response.error is not None and raw is None:
        return Failure("transient", "connection", f"The response broke off ({response.error}).", may_be_paid=True)
    if not isinstance(raw, dict):
        return Failure("transient", "unreadable", "The response is not the JSON of a chat answer.", may_be_paid=True)
    choice = _first(raw.get("choices"))
    message = choice.get("message") if isinstance(choice.get("message"), dict) else {}
    ended = str(choice.get("finish_reason") or raw.get("stop_reason") or raw.get("done_reason") or "").lower()
    broken = choice.get("error")
    if broken or ended in _BROKEN:
        detail = _message({"error": broken}) or ended
        return Failure(
            "transient", "provider_error", f"The answer broke off at the provider ({detail}).", may_be_paid=True
        )
    if message.get("refusal") or ended == "refusal":
        return Failure("item", "refusal", "The model refuses to answer.", may_be_paid=True)
    if ended in _FILTERED:
        return Failure("item", "content_filter", _REASONS["content_filter"], may_be_paid=True)
    if ended in _CUT:
        return Failure("item", "truncated", "The answer was cut off at the token limit.", may_be_paid=True)
    if response.text is None and response.error is not None:
        return Failure(
            "transient", "unreadable", f"The response is no chat answer ({response.error}).", may_be_paid=True
        )
    if not (response.text or "").strip():
        return Failure("item", "empty", "The answer has no text.", may_be_paid=True)
    if not _is_untouched(response.text or "", raw):
        return Failure("item", "altered", "The text is not the one the provider sent.", may_be_paid=True)
    return None


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """The seconds that a response asks to wait, None when it names none or what it names cannot be read.

    A date is compared with the response's own Date header, since this machine's clock may be an hour off.
    """
    named = {name.lower(): value for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(named[name]) / unit
        except (KeyError, ValueError):
            continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    until = _date(named.get("retry-after"))
    if until is None:
        return None
    provider_now = _date(named.get("date"))
    if provider_now is not None:
        return max(0.0, (until - provider_now).total_seconds())
    return min(max(0.0, (until - (now or datetime.now(UTC))).total_seconds()), LONGEST_UNCHECKED_WAIT_S)


def _date(value: str | None) -> datetime | None:
    try:
        parsed = email.utils.parsedate_to_datetime(value or "")
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def _json(body: bytes | None) -> Any:
    try:
        return json.loads(body or b"")
    except ValueError:
        return None


def _first(choices: Any) -> Mapping[str, Any]:
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}


def _message(raw: Any) -> str | None:
    """The sentence an error body holds, wherever the provider puts it, on one line."""
    for value in (raw.get("error"), raw.get("message"), raw.get("detail")) if isinstance(raw, dict) else ():
        text = value.get("message") if isinstance(value, dict) else value
        if isinstance(text, str) and text.strip():
            return " ".join(text.split())[:300]
    return None


def _is_untouched(text: str, raw: Any) -> bool:
    """Whether a text is one of the raw answer's strings, the end of one (after its reasoning), or its text blocks."""
    blocks = raw.get("content")
    joined = (
        "".join(block.get("text") or "" for block in blocks if isinstance(block, dict))
        if isinstance(blocks, list)
        else ""
    )
    return text in joined or any(text.strip() in string for string in _strings(raw))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
