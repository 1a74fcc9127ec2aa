"""What may be asked of a provider, and when: calls in flight, requests and tokens a minute, pauses it asked for."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal

from ingest.run.agents import Provider
from ingest.run.call import BudgetReached

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
                    self._change.notify_all()

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


class SpendingCap:
    """Sees to it that what is spent, plus the worst case of all calls in flight, stays under a cap in US dollars."""

    def __init__(self, cap: Decimal | None, spent: Decimal = Decimal(0)) -> None:
        self._cap = cap
        self._spent = spent
        self._reserved = Decimal(0)
        self._change = threading.Condition()

    @contextmanager
    def reserved(self, worst_case: Decimal | None, what: str) -> Iterator[Callable[[Decimal | None], None]]:
        """Holds a call's worst case while it is made.

        The yielded function takes what the call cost; None is unknown and counts at its worst case. A call that is
        never said to cost something cost nothing. Waits while calls in flight may still turn out cheaper. Raises
        BudgetReached when the worst case does not fit even without them, or when there is a cap and the worst case is
        not known.
        """
        if self._cap is not None and worst_case is None:
            raise BudgetReached(
                f"The worst case of a call of {what} is not known: the spending cap of {self._cap} USD cannot be kept. "
                "Give its agent a price and a max_tokens in the agents file, or run without a cap."
            )
        amount = worst_case or Decimal(0)
        with self._change:
            while self._cap is not None and self._spent + self._reserved + amount > self._cap:
                if not self._reserved:
                    raise BudgetReached(
                        f"The spending cap of {self._cap} USD is reached: {self._spent} USD are or may be spent, and "
                        f"a call of {what} may cost {amount} USD. Raise the cap to go on."
                    )
                self._change.wait()
            self._reserved += amount
        cost = Decimal(0)

        def settle(known: Decimal | None) -> None:
            nonlocal cost
            cost = amount if known is None else known

        try:
            yield settle
        finally:
            with self._change:
                self._reserved -= amount
                self._spent += cost
                self._change.notify_all()
