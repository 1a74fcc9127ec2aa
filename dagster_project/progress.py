"""Progress of long work, as log lines that appear while it runs."""

import logging
import time
from collections.abc import Callable

SECONDS_BETWEEN_LINES = 5.0


def reporter(log: logging.Logger, what: str, unit: str) -> Callable[[int, int], None]:
    """A `progress(done, total)` callback that logs a line every few seconds: count, rate and time left."""
    started = time.monotonic()
    last = started

    def progress(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < SECONDS_BETWEEN_LINES or not done:
            return
        last = now
        rate = done / (now - started)
        left = f", {(total - done) / rate:,.0f} s left" if total else ""
        log.info(
            f"{what}: {done:,} of {total:,} {unit}, {rate:,.0f} a second{left}" if total else f"{what}: {done:,} {unit}"
        )

    return progress
