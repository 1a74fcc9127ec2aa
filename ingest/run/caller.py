"""Makes calls: once each, recorded before they are used, within limits, with one owner of retries and one of money."""

from __future__ import annotations

import json
import math
import os
import random
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from decimal import Decimal
from importlib.util import find_spec
from itertools import islice
from typing import Protocol

from ingest.errors import IngestError
from ingest.run.agents import Agent
from ingest.run.call import (
    Answer,
    CallProblem,
    CallRequest,
    ItemFailed,
    Progress,
    ProviderHalted,
    RunStopped,
)
from ingest.run.exchange import Exchange, Sent
from ingest.run.failures import Failure, judge
from ingest.run.ledger import Completion, Ledger
from ingest.run.limits import Gate
from ingest.run.money import Prices, SpendingCap, TablePrices, allowed_output_tokens
from ingest.run.wire_processes import ProcessWire

# What a speech cannot be, and an answer that is parsed can: the parser says what is wrong with it.
_STILL_PARSED = frozenset({"truncated", "empty"})


class LiteLLMMissing(IngestError):
    """LiteLLM is not installed. `str()` holds the command that installs it."""


class Wire(Protocol):
    """Makes one attempt and hides nothing.

    `send` calls `on_send` with the request just before it leaves; if that raises, nothing leaves.
    """

    version: str

    def send(self, request: CallRequest, on_send: Callable[[Sent], None]) -> Exchange: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class RetryPolicy:
    """How often and after how many seconds a transient failure is tried again, unless the provider names a pause."""

    attempts: int = 6
    first_wait_s: float = 1.0
    longest_wait_s: float = 60.0
    # After so many items in a row that failed although nothing is wrong with each of them, the provider is halted.
    hopeless_in_a_row: int = 5

    def wait_s(self, attempt: int) -> float:
        """The pause after the given attempt (1, 2, …), drawn so that sessions do not come back in step."""
        longest = min(self.longest_wait_s, self.first_wait_s * 2 ** (attempt - 1))
        return random.uniform(longest / 2, longest)


class LedgerCaller:
    """The caller that pays: `ingest.run.call.Caller` over a ledger.

    Opens one run in the ledger; `close` ends it. The caller owns neither the ledger nor what it was handed.
    """

    def __init__(
        self,
        ledger: Ledger,
        purpose: str,
        *,
        study: str | None = None,
        wire: Wire | None = None,
        prices: Prices | None = None,
        spending_cap: Decimal | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        """Opens a run. Without `wire`, processes that run LiteLLM are started when the first call is due."""
        self._ledger = ledger
        self._purpose = purpose
        self._study = study
        self._wire = wire
        self._owns_wire = wire is None
        self._prices = prices or TablePrices()
        self._cap = spending_cap
        self._retry = retry or RetryPolicy()
        spending = ledger.spending()
        self._money = SpendingCap(spending_cap, spending.known + spending.at_most)
        self._run_id: int | None = None
        self._lock = threading.Lock()
        self._gates: dict[str, Gate] = {}
        self._asked: dict[str, Future[Answer]] = {}
        self._halts: dict[str, ProviderHalted] = {}
        self._in_a_row: dict[str, int] = {}
        self._stop = threading.Event()

    @property
    def halts(self) -> tuple[ProviderHalted, ...]:
        """The providers and models that need a person, in the order in which they stopped."""
        with self._lock:
            return tuple(self._halts.values())

    def stop(self) -> None:
        """Makes no further call; those in flight are finished and recorded."""
        self._stop.set()
        with self._lock:
            gates = list(self._gates.values())
        for gate in gates:
            gate.close()

    def close(self, ending: str = "finished") -> None:
        """Ends the run in the ledger, if any call was due."""
        if self._run_id is not None:
            self._ledger.end_run(self._run_id, ending)
        if self._owns_wire and self._wire is not None:
            self._wire.close()

    def call(self, request: CallRequest) -> Answer:
        """See `ingest.run.call.Caller`."""
        key = request.key
        with self._lock:
            asked = self._asked.get(key)
            if asked is None:
                mine: Future[Answer] = Future()
                self._asked[key] = mine
        if asked is not None:
            return asked.result()
        try:
            answer = self._ledger.answer(key) or self._ask(request)
        except BaseException as error:
            mine.set_exception(error)
            raise
        else:
            mine.set_result(answer)
            return answer
        finally:
            with self._lock:
                del self._asked[key]

    def call_all(
        self, requests: Iterable[CallRequest], progress: Progress | None = None
    ) -> Iterator[tuple[CallRequest, Answer | CallProblem]]:
        """See `ingest.run.call.Caller`. `progress` is told how many are done, of how many were asked for."""
        todo = list(requests)
        n_workers = workers_for(request.agent for request in todo)
        with ThreadPoolExecutor(n_workers, "call") as pool:
            left = iter(todo)
            running = {pool.submit(self._attempted, request): request for request in islice(left, n_workers)}
            done = 0
            while running:
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    request = running.pop(future)
                    for following in islice(left, 1):
                        running[pool.submit(self._attempted, following)] = following
                    done += 1
                    if progress is not None:
                        progress(done, len(todo))
                    yield request, future.result()

    def _attempted(self, request: CallRequest) -> Answer | CallProblem:
        try:
            return self.call(request)
        except CallProblem as problem:
            return problem

    def _ask(self, request: CallRequest) -> Answer:
        for attempt in range(1, self._retry.attempts + 1):
            outcome = self._attempt(request, attempt)
            if isinstance(outcome, Answer):
                self._count(request, None)
                return outcome
            if outcome.kind in ("provider", "agent"):
                raise self._halt(request, outcome)
            if outcome.kind == "item":
                if outcome.code == "bad_request":
                    self._count(request, outcome)
                raise ItemFailed(outcome.code, outcome.reason)
            if attempt == self._retry.attempts:
                self._count(request, outcome)
                raise ItemFailed("retries_exhausted", f"{outcome.reason} It was tried {attempt} times.")
            pause = outcome.wait_s or self._retry.wait_s(attempt)
            if outcome.code in ("rate_limited", "overloaded"):
                self._gate(request).pause(pause)
            self._stop.wait(pause)
        raise AssertionError("a retry policy has at least one attempt")

    def _attempt(self, request: CallRequest, attempt: int) -> Answer | Failure:
        self._check(request)
        gate = self._gate(request)
        worst_case = self._prices.worst_case(request)
        with (
            gate.admitted(estimated_tokens(request)) as slot,
            self._money.reserved(worst_case, request.agent.name) as settle,
        ):
            # The wait may have been long; meanwhile the provider may have halted.
            self._check(request)
            assert slot is not None
            run_id, wire = self._open()
            attempt_ids: list[int] = []

            def record(sent: Sent) -> None:
                attempt_ids.append(self._ledger.begin(run_id, request, attempt, sent, worst_case))
                settle(None)

            exchange = wire.send(request, record)
            if not attempt_ids:
                attempt_ids.append(self._ledger.begin(run_id, request, attempt, None, None))
            completion, failure = self._completion(request, exchange)
            finished_at = self._ledger.complete(attempt_ids[0], completion)
            settle(completion.cost if completion.may_be_paid else Decimal(0))
            usage = completion.usage
            if usage.input_tokens is not None and usage.output_tokens is not None:
                gate.used(slot, usage.input_tokens + usage.output_tokens)
        if failure is not None:
            return failure
        assert completion.text is not None
        return Answer(
            text=completion.text,
            finish_reason=completion.finish_reason,
            model_reported=completion.model_reported,
            usage=usage,
            cost=completion.cost,
            key=request.key,
            attempt_id=attempt_ids[0],
            created_at=finished_at,
        )

    def _completion(self, request: CallRequest, exchange: Exchange) -> tuple[Completion, Failure | None]:
        agent = request.agent
        failure = judge(exchange, provider=agent.model.split("/")[0], model=agent.model)
        if request.is_parsed and failure is not None and failure.code in _STILL_PARSED:
            failure = None
        known = exchange.usage.input_tokens is not None
        outcomes = {"transient": "transient", "item": "item_failed", "provider": "halted", "agent": "halted"}
        completion = Completion(
            outcome="answered" if failure is None else outcomes[failure.kind],  # type: ignore[arg-type]
            may_be_paid=failure is None or failure.may_be_paid,
            code=None if failure is None else failure.code,
            reason=None if failure is None else failure.reason,
            status=exchange.status,
            headers=exchange.headers,
            body=exchange.body,
            latency_s=exchange.latency_s,
            model_reported=_model_reported(exchange.body),
            finish_reason=exchange.finish_reason,
            text=(exchange.text or "") if failure is None else None,
            usage=exchange.usage,
            cost=self._prices.cost(agent, exchange.usage) if known else None,
        )
        return completion, failure

    def _open(self) -> tuple[int, Wire]:
        """The run's id and its wire. What is slow to start is started when the first call is due."""
        with self._lock:
            if self._run_id is None:
                if self._wire is None:
                    self._wire = _open_wire()
                self._run_id = self._ledger.begin_run(
                    self._purpose, study=self._study, spending_cap=self._cap, litellm_version=self._wire.version
                )
            assert self._wire is not None
            return self._run_id, self._wire

    def _gate(self, request: CallRequest) -> Gate:
        provider = request.agent.provider
        with self._lock:
            if provider.name not in self._gates:
                self._gates[provider.name] = Gate(provider)
            return self._gates[provider.name]

    def _check(self, request: CallRequest) -> None:
        if self._stop.is_set():
            raise RunStopped
        provider = request.agent.provider
        with self._lock:
            for concerned in (provider.name, request.agent.model):
                if concerned in self._halts:
                    raise self._halts[concerned]
        if provider.key_env is not None and provider.key is None:
            missing = Failure("provider", "key_missing", f"{provider.key_env} is not set.", f"Set {provider.key_env}")
            raise self._halt(request, missing)

    def _halt(self, request: CallRequest, failure: Failure) -> ProviderHalted:
        """Stops a provider (or one model of it) for this run, once, and says so."""
        provider = request.agent.provider
        concerned = provider.name if failure.kind == "provider" else request.agent.model
        with self._lock:
            return self._halts.setdefault(
                concerned, ProviderHalted(concerned, failure.code, failure.reason, failure.remedy or "")
            )

    def _count(self, request: CallRequest, failure: Failure | None) -> None:
        """Halts a provider where item after item fails for reasons that are not the items'."""
        name = request.agent.provider.name
        with self._lock:
            self._in_a_row[name] = 0 if failure is None else self._in_a_row.get(name, 0) + 1
            hopeless = self._in_a_row[name] >= self._retry.hopeless_in_a_row
        if failure is not None and hopeless:
            reason = f"{self._in_a_row[name]} calls in a row failed. The last: {failure.reason}"
            remedy = failure.remedy or "Check the network, the endpoint and the provider's status page"
            raise self._halt(request, Failure("provider", "nothing_works", reason, remedy))


def _open_wire() -> Wire:
    if find_spec("litellm") is None:
        raise LiteLLMMissing(
            "Calling models needs LiteLLM. Install it: .venv/bin/pip install -c requirements.lock -e '.[generate]'"
        )
    return ProcessWire(processes=min(4, os.cpu_count() or 1))


# Bytes a token at least, in any of the study's languages: enough for keeping to a limit, never for money.
_BYTES_PER_TOKEN = 3.0


def estimated_tokens(request: CallRequest) -> int:
    """About how many tokens a call takes, prompt and the longest answer it allows together."""
    prompt = sum(len(message["content"].encode()) for message in request.messages)
    return math.ceil(prompt / _BYTES_PER_TOKEN) + (allowed_output_tokens(request) or 0)


def workers_for(agents: Iterable[Agent], most: int = 256) -> int:
    """How many threads keep these agents' providers busy: twice what they take at once, so that none runs dry."""
    providers = {agent.provider.name: agent.provider for agent in agents}
    return max(1, min(most, 2 * sum(provider.max_in_flight for provider in providers.values())))


def _model_reported(body: bytes | None) -> str | None:
    try:
        raw = json.loads(body or b"{}")
    except ValueError:
        return None
    model = raw.get("model") if isinstance(raw, dict) else None
    return model if isinstance(model, str) else None
