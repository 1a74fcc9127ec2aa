"""Times the null distribution of a cell of the paper's size against the machine's own matrix product.

Run from the project root: ``python -m benchmarks.null``. A cell is a language under a condition: 71 debates that are
all compared with each other. Prints a Markdown table; all figures are from one run.
"""

import os
import platform
import time
from collections.abc import Callable

import numpy as np

from embeddings.null import NullMaxima, null_maxima

SESSIONS, TURNS, DIMENSION, CELLS = 71, 8, 1024, 12
ARGUMENTS_PER_TURN = ([1, 2, 3, 4, 5, 6], [0.04, 0.10, 0.19, 0.45, 0.18, 0.04])  # 3.75 on average
REPETITIONS = 5
SEED = 20260101


def best_seconds(call: Callable[[], object]) -> float:
    """The shortest of a few runs, after one that warms up: what the machine can do when nothing is in the way."""
    call()
    seconds = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def by_loop(unit: np.ndarray, session: np.ndarray, turn: np.ndarray, ours: int, other: int) -> dict[int, float]:
    """Mean of the maxima of each turn of one session against another, by the definition."""
    means = {}
    for index in range(1, TURNS + 1):
        mine = unit[(session == ours) & (turn == index)]
        pool = unit[(session == other) & (turn < index)]
        if len(mine) and len(pool):
            means[index] = float((mine @ pool.T).max(axis=1).mean())
    return means


def check(found: NullMaxima, unit: np.ndarray, session: np.ndarray, turn: np.ndarray) -> None:
    """Compares a few pairs of sessions with the definition; a benchmark of wrong answers would be none."""
    for ours, other in ((0, 1), (5, 70), (70, 3)):
        chosen = (found.session == ours) & (found.other == other)
        means = dict(zip(found.turn_index[chosen].tolist(), found.mean[chosen].tolist(), strict=True))
        expected = by_loop(unit, session, turn, ours, other)
        assert means.keys() == expected.keys()
        assert all(abs(means[index] - expected[index]) < 1e-9 for index in expected)


def main() -> None:
    rng = np.random.default_rng(SEED)
    sizes = rng.choice(ARGUMENTS_PER_TURN[0], p=ARGUMENTS_PER_TURN[1], size=SESSIONS * TURNS)
    session = np.repeat(np.repeat(np.arange(SESSIONS), TURNS), sizes)
    turn = np.repeat(np.tile(np.arange(1, TURNS + 1), SESSIONS), sizes)
    vectors = rng.standard_normal((SESSIONS, DIMENSION))[session] + rng.standard_normal((len(session), DIMENSION))
    compared = ~np.eye(SESSIONS, dtype=bool)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    check(null_maxima(vectors, session, turn, compared, "numpy"), unit, session, turn)

    ours = best_seconds(lambda: null_maxima(vectors, session, turn, compared, "numpy"))
    product = best_seconds(lambda: unit @ unit.T)
    gflop = 2 * len(unit) ** 2 * DIMENSION / 1e9
    print(f"{len(unit):,} argument units × {DIMENSION:,} dimensions, {SESSIONS} sessions, {gflop:.1f} GFLOP a cell;")
    print(f"{platform.machine()}, {os.cpu_count()} cores, NumPy {np.__version__}, float64.\n")
    print("| | seconds a cell | times the product |\n|---|---:|---:|")
    print(f"| null_maxima | {ours:.3f} | {ours / product:.2f} |")
    print(f"| one matrix product of the same size | {product:.3f} | 1.00 |")
    print(f"\nA study of {CELLS} cells takes {CELLS * ours:.1f} s an encoder and field.")


if __name__ == "__main__":
    main()
