"""What calls cost, and a cap on it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Protocol

from ingest.run.agents import Agent
from ingest.run.call import BudgetReached, CallRequest, Usage
from ingest.run.prices import cost_of, worst_case_cost


class Prices(Protocol):
    """What calls cost, in US dollars; None is unknown."""

    def cost(self, agent: Agent, usage: Usage) -> Decimal | None: ...

    def worst_case(self, request: CallRequest) -> Decimal | None: ...


class TablePrices:
    """The prices of the price table, or of the agent where it has its own."""

    def cost(self, agent: Agent, usage: Usage) -> Decimal | None:
        """What a call that took these tokens cost."""
        return cost_of(agent.model, usage, agent.price)

    def worst_case(self, request: CallRequest) -> Decimal | None:
        """The most a call can cost. None when its price is unknown, or how long its answer may become."""
        longest = allowed_output_tokens(request)
        if longest is None:
            return None
        # A token is at least one byte; the frame of each message and the schema are a few tokens more.
        prompt = sum(len(message["content"].encode()) + 16 for message in request.messages)
        schema = 0 if request.response_schema is None else len(str(request.response_schema))
        return worst_case_cost(request.agent.model, prompt + schema, longest, request.agent.price)


def allowed_output_tokens(request: CallRequest) -> int | None:
    """The longest answer that a call allows, None when it sets no limit."""
    limits = [request.sampling.get(name) for name in ("max_tokens", "max_completion_tokens")]
    return max((limit for limit in limits if isinstance(limit, int)), default=None)


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
