"""A server on the loopback that speaks the providers' wire formats and misbehaves as they do, when told to.

The first part of the path is the provider: `/openai/v1/chat/completions`, `/anthropic/v1/messages`,
`/ollama/api/chat`. An answer depends on nothing but the request, so that two runs can be compared.
Run as a module it serves until it is killed, and prints its port: `python -m tests.ingest.run.provider_server`.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class Seen:
    """A request as it arrived."""

    provider: str
    path: str
    headers: dict[str, str]
    body: bytes
    at: float

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.body)

    @property
    def prompt(self) -> str:
        return "\n".join(_text(message["content"]) for message in self.json["messages"])


@dataclass(frozen=True)
class Reply:
    """What to send back. `cut` closes the connection after so many bytes of the body; `drop` before any byte."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    cut: int | None = None
    drop: bool = False


DATED = {
    "gpt-5.5": "gpt-5.5-2026-04-23",
    "claude-opus-4-7": "claude-opus-4-7",
    "deepseek-chat": "deepseek-chat",
    "mistral-large-latest": "mistral-large-2512",
}
_WORDS = [
    "the",
    "motion",
    "helps",
    "cities",
    "because",
    "costs",
    "fall",
    "and",
    "people",
    "travel",
    "more",
    "while",
    "critics",
    "say",
    "budgets",
    "break",
]


def speech(body: bytes) -> str:
    """Five sentences that depend on the request alone."""
    digest = hashlib.sha256(body).digest()
    sentences = []
    for number in range(5):
        picked = [_WORDS[digest[(number * 5 + place) % 32] % len(_WORDS)] for place in range(8)]
        sentences.append(" ".join(picked).capitalize() + f" ({digest[number]:02x}).")
    return " ".join(sentences)


def completion(
    provider: str,
    model: str,
    text: str | None,
    *,
    finish: str = "stop",
    usage: dict[str, Any] | str | None = "default",
    message: dict[str, Any] | None = None,
) -> bytes:
    """The body of an answer in the provider's format. `usage=None` leaves usage out."""
    if provider == "anthropic":
        ended = {"stop": "end_turn", "length": "max_tokens"}.get(finish, finish)
        counted = {"input_tokens": 100, "output_tokens": 50, "cache_read_input_tokens": 20}
        content = [] if text is None else [{"type": "text", "text": text}]
        body = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": content}
        body |= {"stop_reason": ended, "stop_sequence": None}
    elif provider == "ollama":
        counted = None
        body = {"model": model, "created_at": "2026-05-01T00:00:00Z", "done": True, "done_reason": finish}
        body |= {"message": {"role": "assistant", "content": text or ""}}
        if usage is not None:
            body |= {"prompt_eval_count": 120, "eval_count": 50}
    else:
        counted = {"prompt_tokens": 120, "completion_tokens": 50, "total_tokens": 170}
        if provider == "deepseek":
            counted |= {"prompt_cache_hit_tokens": 20, "prompt_cache_miss_tokens": 100}
        elif provider == "openai":
            counted |= {
                "prompt_tokens_details": {"cached_tokens": 20},
                "completion_tokens_details": {"reasoning_tokens": 10},
            }
        choice = {"index": 0, "message": {"role": "assistant", "content": text} | (message or {})}
        body = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1777000000, "model": model}
        body |= {"choices": [choice | {"finish_reason": finish}]}
    if usage == "default":
        usage = counted
    if usage is not None:
        body["usage"] = usage
    return json.dumps(body, ensure_ascii=False).encode()


def answer(seen: Seen, text: str | None = None) -> Reply:
    """The well-behaved answer to a request."""
    model = seen.json["model"]
    return Reply(body=completion(seen.provider, DATED.get(model, model), text or speech(seen.body)))


def error(status: int, body: Any, **headers: str) -> Reply:
    """An error with a JSON body."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, json.dumps(body).encode(), named)


class ProviderServer:
    """Serves in a thread while the `with` block runs.

    `replies[provider]` are sent first, one a request; then what `default` says.
    """

    def __init__(self, latency_s: float = 0.0, port: int = 0, remember: bool = True) -> None:
        self.latency_s = latency_s
        self.replies: defaultdict[str, deque[Reply | Callable[[Seen], Reply]]] = defaultdict(deque)
        self.default: Callable[[Seen], Reply] = answer
        self.seen: list[Seen] = []
        self.in_flight = 0
        self.most_in_flight: defaultdict[str, int] = defaultdict(int)
        self.port = port
        self._remember = remember
        self._by_provider: defaultdict[str, int] = defaultdict(int)
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> ProviderServer:
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def url(self, provider: str) -> str:
        """The address to declare as the provider's endpoint."""
        suffix = "" if provider in ("anthropic", "ollama") else "/v1"
        return f"http://127.0.0.1:{self.port}/{provider}{suffix}"

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", self.port, backlog=512))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        open_ = asyncio.all_tasks(self._loop)
        for task in open_:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*open_, return_exceptions=True))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) if ": " in line else (line, "") for line in head[1:] if line)
        path = head[0].split(" ")[1]
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        seen = Seen(path.split("/")[1], path, headers, body, time.monotonic())
        if self._remember:
            self.seen.append(seen)
        self._by_provider[seen.provider] += 1
        self.most_in_flight[seen.provider] = max(self.most_in_flight[seen.provider], self._by_provider[seen.provider])
        try:
            waiting = self.replies[seen.provider]
            reply = waiting.popleft() if waiting else self.default
            reply = reply(seen) if callable(reply) else reply
            await asyncio.sleep(reply.delay_s or self.latency_s)
        finally:
            self._by_provider[seen.provider] -= 1
        if reply.drop:
            return False
        sent = {"Content-Type": "application/json", "Content-Length": str(len(reply.body))} | reply.headers
        lines = [f"HTTP/1.1 {reply.status} Said", *(f"{name}: {value}" for name, value in sent.items()), "", ""]
        writer.write("\r\n".join(lines).encode("latin-1") + reply.body[: reply.cut])
        await writer.drain()
        return reply.cut is None


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.2)
    arguments = parser.parse_args()
    with ProviderServer(latency_s=arguments.latency, remember=False) as server:
        print(server.port, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
