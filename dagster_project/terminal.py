"""Progress on a terminal: a line that changes in place, or, where the output is kept, a line now and then."""

import sys
import time

SECONDS_BETWEEN_LINES = 30.0


class Bar:
    """A `progress(done, total)` callback that tells how much of `what` is done, on standard error."""

    def __init__(self, what: str, unit: str) -> None:
        self._what = what
        self._unit = unit
        self._started = self._told = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        """Tells of it when there is something new to see."""
        now, is_last = time.monotonic(), done == total
        in_place = sys.stderr.isatty()
        if not is_last and now - self._told < (0.2 if in_place else SECONDS_BETWEEN_LINES):
            return
        self._told = now
        left = (total - done) * (now - self._started) / done if done else 0.0
        line = f"{self._what}: {done:,} of {total:,} {self._unit}" + (f", about {_time(left)} left" if left else "")
        if in_place:
            # The rest of a longer line before it is wiped.
            print(f"\r\x1b[K{line}", end="\n" if is_last else "", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)


def _time(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds < 120 else f"{seconds / 60:,.0f} min"
