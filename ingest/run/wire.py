"""One attempt on the wire, through LiteLLM: what left, what came back, and nothing that nobody asked for.

LiteLLM builds the request and reads the answer; the transport below it is ours. It sees the bytes, has them recorded
before they leave, and refuses a second request within one attempt, so that no layer between can retry unseen.
Importing this module imports LiteLLM (seconds).
"""

from __future__ import annotations

import contextvars
import json
import os
import threading
import time
import urllib.request
import warnings
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

# LiteLLM reads these when it is imported: its price map is not fetched, and OpenAI's models take the same HTTP
# path as all others instead of the OpenAI client, which has retries of its own.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["EXPERIMENTAL_OPENAI_BASE_LLM_HTTP_HANDLER"] = "True"
import httpx
import litellm
from litellm._internal_context import internal_sub_call
from litellm.llms.custom_httpx.http_handler import HTTPHandler

from ingest.run.call import CallRequest, Usage
from ingest.run.exchange import Exchange, Outgoing, Sent

# Pydantic remarks on LiteLLM's type declarations, one by one; nobody here can do anything about them.
warnings.filterwarnings("ignore", message=r".*`ReadOnly` qualifier", category=UserWarning)

_SECRET_HEADERS = ("authorization", "cookie", "key", "organization", "secret", "token", "user")
_REMOVED = "[removed]"


class UnaskedRequest(Exception):
    """A layer above tried to send what the caller did not ask for."""


class LiteLLMWire:
    """Sends calls to their providers with one pool of connections. `send` may be called from several threads."""

    version: str = ""

    def __init__(self) -> None:
        litellm.suppress_debug_info = True
        litellm.telemetry = False
        self.version = _installed_version()
        self._client = httpx.Client(transport=_RecordingTransport(), trust_env=False, follow_redirects=False)
        self._handler = HTTPHandler(client=self._client)

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def send(self, request: CallRequest, on_send: Callable[[Sent], None]) -> Exchange:
        """Makes one attempt. `on_send` is called with the request just before it leaves; if it raises, it does not."""
        return self.exchange(Outgoing.of(request), on_send)

    def exchange(self, call: Outgoing, on_send: Callable[[Sent], None]) -> Exchange:
        """See `send`."""
        attempt = _Attempt(secret=call.key, timeout_s=call.timeout_s, on_send=on_send)
        token = _attempt.set(attempt)
        try:
            # The ledger is what logs and bills; LiteLLM's own accounting is left out.
            with internal_sub_call():
                response = litellm.completion(
                    model=call.model,
                    messages=[dict(message) for message in call.messages],
                    api_base=call.endpoint,
                    # A server without a key is still sent one: LiteLLM would look for another provider's.
                    api_key=call.key or "none",
                    client=self._handler,
                    timeout=float(call.timeout_s),
                    max_retries=0,
                    num_retries=0,
                    caching=False,
                    **call.parameters,
                )
        except Exception as error:
            if attempt.fault is not None:
                raise attempt.fault from error
            attempt.exchange.error = attempt.exchange.error or _redact(_first_line(error), attempt.secret)
        else:
            if attempt.exchange.sent is None:
                raise UnaskedRequest(
                    f"LiteLLM answered for {call.model} by a way that is not recorded. Its answer is not used."
                )
            _read(response, attempt.exchange)
        finally:
            _attempt.reset(token)
        return attempt.exchange


def _read(response: Any, exchange: Exchange) -> None:
    choice = response.choices[0]
    exchange.text = choice.message.content
    exchange.finish_reason = choice.finish_reason
    exchange.usage = _usage(response, exchange.body)


def _usage(response: Any, body: bytes | None) -> Usage:
    """The tokens as LiteLLM sorts them, as far as the provider counted them: LiteLLM fills the rest with zeros."""
    raw = json.loads(body or b"{}")
    counted = raw.get("usage") if isinstance(raw, dict) else None
    if not counted and "eval_count" not in raw:
        return Usage()
    said = json.dumps(counted)
    usage = response.usage
    prompt, completion = (
        getattr(usage, "prompt_tokens_details", None),
        getattr(usage, "completion_tokens_details", None),
    )
    return Usage(
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        cached_input_tokens=getattr(prompt, "cached_tokens", None) if "cach" in said else None,
        cache_write_tokens=getattr(prompt, "cache_creation_tokens", None) if "creation" in said else None,
        reasoning_tokens=getattr(completion, "reasoning_tokens", None) if "reasoning" in said else None,
    )


@dataclass
class _Attempt:
    secret: str | None
    timeout_s: float
    on_send: Callable[[Sent], None]
    exchange: Exchange = field(default_factory=Exchange)
    fault: BaseException | None = None


_attempt: contextvars.ContextVar[_Attempt] = contextvars.ContextVar("attempt")


class _RecordingTransport(httpx.BaseTransport):
    """Sends the one request of the current attempt and keeps both sides of it."""

    def __init__(self) -> None:
        self._direct = httpx.HTTPTransport(limits=_limits(), retries=0)
        self._proxies: dict[str, httpx.HTTPTransport] = {}
        self._opening = threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        attempt = _attempt.get()
        exchange = attempt.exchange
        try:
            if exchange.sent is not None:
                raise UnaskedRequest(f"A second request to {request.url.host} within one attempt was not sent.")
            sent = Sent(_redact(str(request.url), attempt.secret), _without(request.read(), attempt.secret))
            attempt.on_send(sent)
            exchange.sent = sent
        except BaseException as error:
            # The first answer stands when only a second request was refused.
            if exchange.sent is None:
                attempt.fault = error
            raise
        started = time.monotonic()
        chunks: list[bytes] = []
        try:
            response = self._transport(request.url).handle_request(request)
            exchange.status = response.status_code
            exchange.headers = _headers(response.headers, attempt.secret)
            with closing(response):
                for chunk in response.iter_bytes():
                    chunks.append(chunk)
                    if time.monotonic() - started > attempt.timeout_s:
                        raise httpx.ReadTimeout(f"the answer was not complete after {attempt.timeout_s:g} s")
        except (httpx.HTTPError, OSError) as error:
            exchange.error = _redact(_first_line(error), attempt.secret)
            raise
        except BaseException as error:
            attempt.fault = error
            raise
        finally:
            exchange.latency_s = time.monotonic() - started
            if exchange.status is not None:
                exchange.body = _without(b"".join(chunks), attempt.secret)
        headers = [item for item in response.headers.multi_items() if item[0] not in _ENCODING_HEADERS]
        return httpx.Response(response.status_code, headers=headers, content=b"".join(chunks), request=request)

    def close(self) -> None:
        for transport in (self._direct, *self._proxies.values()):
            transport.close()

    def _transport(self, url: httpx.URL) -> httpx.HTTPTransport:
        proxy = urllib.request.getproxies().get(url.scheme)
        if proxy is None or urllib.request.proxy_bypass(url.host):
            return self._direct
        with self._opening:
            if proxy not in self._proxies:
                self._proxies[proxy] = httpx.HTTPTransport(limits=_limits(), retries=0, proxy=proxy)
            return self._proxies[proxy]


# The body is handed on decoded.
_ENCODING_HEADERS = ("content-encoding", "content-length", "transfer-encoding")


def _limits() -> httpx.Limits:
    # How many calls are in flight is decided by the providers' limits, not here.
    return httpx.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=5.0)


def _headers(headers: httpx.Headers, secret: str | None) -> dict[str, str]:
    """Response headers without anything that names an account or a session."""
    return {
        name: _redact(value, secret)
        for name, value in headers.items()
        if name.startswith("x-ratelimit") or not any(part in name for part in _SECRET_HEADERS)
    }


def _redact(text: str, secret: str | None) -> str:
    return text.replace(secret, _REMOVED) if secret else text


def _without(body: bytes, secret: str | None) -> bytes:
    return body.replace(secret.encode(), _REMOVED.encode()) if secret else body


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"[:500].rstrip(": ")


def _installed_version() -> str:
    from importlib.metadata import version

    return version("litellm")
