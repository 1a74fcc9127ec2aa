"""What may be asked of a provider, and when: calls in flight, requests and tokens a minute, pauses it asked for."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ingest.run.agents import Provider

WINDOW_S = 60.0


@dataclass
class Slot:
    """One admitted call. `tokens` is the estimate it was admitted with, until the real number is known."""

    at: float
    tokens: int


class Gate:
    """Lets calls to one provider through within its limits, over any 60 seconds.

    A single call that is larger than a minute's tokens passes when no other was admitted for a minute.
    """

    def __init__(self, provider: Provider, clock: Callable[[], float] = time.monotonic) -> None:
        self._provider = provider
        self._clock = clock
        self._change = threading.Condition()
        self._in_flight = 0
        self._recent: deque[Slot] = deque()
        self._tokens = 0
        self._paused_until = 0.0
        self._closed = False

    @contextmanager
    def admitted(self, tokens: int) -> Iterator[Slot | None]:
        """Waits for a place for a call of about this many tokens. Yields None when the gate was closed meanwhile."""
        with self._change:
            while not self._closed and (wait := self._wait(tokens)) > 0:
                self._change.wait(wait)
            if self._closed:
                slot = None
            else:
                slot = Slot(self._clock(), tokens)
                self._in_flight += 1
                self._tokens += tokens
                self._recent.append(slot)
        try:
            yield slot
        finally:
            if slot is not None:
                with self._change:
                    self._in_flight -= 1
                    # One place became free; waking all who wait would cost more than the call itself.
                    self._change.notify()

    def used(self, slot: Slot, tokens: int) -> None:
        """Replaces a call's estimate by the tokens it really took."""
        with self._change:
            if self._recent and slot.at >= self._recent[0].at:
                self._tokens += tokens - slot.tokens
                slot.tokens = tokens

    def pause(self, seconds: float) -> None:
        """Lets no call through for a while; a longer pause that is already on stays."""
        with self._change:
            self._paused_until = max(self._paused_until, self._clock() + seconds)

    def close(self) -> None:
        """Lets no call through any more; who waits is woken."""
        with self._change:
            self._closed = True
            self._change.notify_all()

    def _wait(self, tokens: int) -> float:
        """Seconds until a call may fit, 0 when it fits. Whoever finds the house full is woken."""
        now = self._clock()
        while self._recent and self._recent[0].at <= now - WINDOW_S:
            self._tokens -= self._recent.popleft().tokens
        if now < self._paused_until:
            return self._paused_until - now
        if self._in_flight >= self._provider.max_in_flight:
            return WINDOW_S
        requests, budget = self._provider.requests_per_minute, self._provider.tokens_per_minute
        full = requests is not None and len(self._recent) >= requests
        spent = budget is not None and self._tokens > 0 and self._tokens + tokens > budget
        return self._recent[0].at + WINDOW_S - now if full or spent else 0.0
