import threading
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest

from ingest.run.agents import Provider
from ingest.run.call import BudgetReached
from ingest.run.limits import Gate
from ingest.run.money import SpendingCap


class Clock:
    """Time that passes only while somebody waits for the gate."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def admissions(gate: Gate, clock: Clock, tokens: list[int]) -> list[float]:
    """When each of these calls is let through, one after the other, in seconds from the first."""
    started, times = clock.now, []
    for wanted in tokens:
        while (wait := gate._wait(wanted)) > 0:
            clock.now += wait
        with gate.admitted(wanted):
            times.append(clock.now - started)
    return times


def test_no_sixty_seconds_hold_more_requests_than_allowed() -> None:
    clock = Clock()
    assert admissions(Gate(Provider("p", requests_per_minute=2), clock), clock, [1] * 6) == [0, 0, 60, 60, 120, 120]


def test_no_sixty_seconds_hold_more_tokens_than_allowed() -> None:
    clock = Clock()
    gate = Gate(Provider("p", tokens_per_minute=100), clock)
    assert admissions(gate, clock, [60, 40, 1, 99, 100]) == [0, 0, 60, 60, 120]


def test_a_call_larger_than_a_minute_passes_alone() -> None:
    clock = Clock()
    gate = Gate(Provider("p", tokens_per_minute=100), clock)
    assert admissions(gate, clock, [500, 10, 500]) == [0, 60, 120]


def test_a_call_that_took_less_than_estimated_makes_room() -> None:
    clock = Clock()
    gate = Gate(Provider("p", tokens_per_minute=100), clock)
    with gate.admitted(90) as slot:
        assert gate._wait(50) == 60
        gate.used(slot, 20)
        assert gate._wait(50) == 0


def test_a_pause_holds_everybody_and_is_never_shortened() -> None:
    clock = Clock()
    gate = Gate(Provider("p"), clock)
    gate.pause(30)
    gate.pause(5)
    assert admissions(gate, clock, [1]) == [30]


def test_no_more_calls_are_in_flight_than_allowed() -> None:
    gate, lock, now, most = Gate(Provider("p", max_in_flight=3)), threading.Lock(), [0], [0]

    def call(_: int) -> None:
        with gate.admitted(1):
            with lock:
                now[0] += 1
                most[0] = max(most[0], now[0])
            time.sleep(0.002)
            with lock:
                now[0] -= 1

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(call, range(60)))
    assert most[0] == 3


def test_closing_wakes_those_who_wait() -> None:
    gate = Gate(Provider("p", max_in_flight=1))
    with gate.admitted(1), ThreadPoolExecutor(1) as pool:

        def wait_for_a_place() -> bool:
            with gate.admitted(1) as slot:
                return slot is None

        waiting = pool.submit(wait_for_a_place)
        time.sleep(0.02)
        gate.close()
        assert waiting.result(timeout=5)


def test_the_worst_case_is_held_and_what_it_really_cost_is_spent() -> None:
    cap = SpendingCap(Decimal(10), Decimal(4))
    with cap.reserved(Decimal(6), "a") as settle:
        settle(Decimal(1))
    with cap.reserved(Decimal(5), "a") as settle:
        settle(None)
    with pytest.raises(BudgetReached, match=r"cap of 10 USD is reached: 10 USD are or may be spent.*a may cost 1 USD"):
        cap.reserved(Decimal(1), "a").__enter__()


def test_a_call_waits_while_those_in_flight_may_turn_out_cheaper() -> None:
    cap = SpendingCap(Decimal(10))
    order = []
    with ThreadPoolExecutor(1) as pool:
        with cap.reserved(Decimal(8), "a") as settle:

            def second() -> None:
                with cap.reserved(Decimal(8), "b") as settle_second:
                    order.append("second")
                    settle_second(Decimal(1))

            waiting = pool.submit(second)
            time.sleep(0.02)
            order.append("first")
            settle(Decimal(1))
        waiting.result(timeout=5)
    assert order == ["first", "second"]


def test_many_calls_at_once_never_spend_more_than_the_cap() -> None:
    cap, spent, lock = SpendingCap(Decimal(10)), [Decimal(0)], threading.Lock()

    def call(_: int) -> None:
        with cap.reserved(Decimal(3), "a") as settle:
            time.sleep(0.001)
            with lock:
                spent[0] += Decimal(3)
            settle(Decimal(3))

    with ThreadPoolExecutor(16) as pool:
        futures = [pool.submit(call, number) for number in range(16)]
    assert spent[0] == 9
    assert sum(isinstance(future.exception(), BudgetReached) for future in futures) == 13


def test_a_cap_over_an_unknown_price_is_refused_and_without_a_cap_it_is_not() -> None:
    with pytest.raises(BudgetReached, match="not known"):
        SpendingCap(Decimal(10)).reserved(None, "a").__enter__()
    with SpendingCap(None).reserved(None, "a") as settle:
        settle(None)
