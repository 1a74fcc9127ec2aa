"""Times 5,000 resamples of every contrast of a paper-size study against slower and simpler ways to the same numbers.

Run from the project root: ``python -m benchmarks.bootstrap``. Prints a Markdown table; all figures are from one run.
"""

import os
import platform
import time
import tracemalloc
from collections.abc import Callable
from functools import partial

import numpy as np
import pyarrow as pa
import scipy.stats
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from dagster_project.estimators.bootstrap import BootstrapResult, cluster_bootstrap_means, resample_counts
from dagster_project.estimators.contrasts import MOTION_CONTRASTS_SCHEMA, estimate_contrasts

N_MOTIONS = 71
N_RESAMPLES = 5_000
SEED = 42
REPETITIONS = 5

LANGUAGES, GAP_LANGUAGES, CONDITIONS, AGENTS, ENCODERS, FIELDS, AGGREGATES = 6, 5, 2, 4, 3, 3, 2
AGENT_PAIRS = AGENTS * (AGENTS - 1) // 2
N_CONTRASTS_PER_CELL = {
    "language_gap": GAP_LANGUAGES * CONDITIONS * AGGREGATES,
    "agent_gap": GAP_LANGUAGES * CONDITIONS * AGENTS,
    "agent_contrast": GAP_LANGUAGES * CONDITIONS * AGENT_PAIRS,
    "condition_effect": LANGUAGES * AGGREGATES,
    "gap_reduction": GAP_LANGUAGES * AGGREGATES,
    "condition_change": GAP_LANGUAGES * AGGREGATES,
}
N_CONTRASTS = ENCODERS * FIELDS * sum(N_CONTRASTS_PER_CELL.values())
VARIANTS = 5


def paper_size_differences() -> NDArray[np.float64]:
    """Differences of shape (N_MOTIONS, N_CONTRASTS); one contrast in fifty lacks a motion, as Russian-Mistral does."""
    differences = np.random.default_rng(0).normal(0.047, 0.05, size=(N_MOTIONS, N_CONTRASTS))
    differences[0, ::50] = np.nan
    return differences


def paper_size_table() -> pa.Table:
    """The rows of `marts.motion_contrasts` under all variants of the measure: one per contrast and motion."""
    n_contrasts = N_CONTRASTS * VARIANTS
    n = n_contrasts * N_MOTIONS
    columns = {field.name: pa.repeat(field.name, n) for field in MOTION_CONTRASTS_SCHEMA}
    # One column is enough to tell contrasts apart.
    columns["encoder"] = pa.array(np.repeat(np.arange(n_contrasts), N_MOTIONS)).cast(pa.string())
    columns["motion_id"] = pa.array(np.tile(np.arange(N_MOTIONS), n_contrasts)).cast(pa.string())
    columns["difference"] = pa.array(np.random.default_rng(0).normal(0.047, 0.05, n))
    return pa.table(columns, schema=MOTION_CONTRASTS_SCHEMA)


def table_cpu_seconds(table: pa.Table) -> float:
    """What one core needs from the mart's rows to the table of estimates."""
    with threadpool_limits(1):
        seconds = []
        for _ in range(REPETITIONS):
            start = time.process_time()
            estimate_contrasts(table, N_RESAMPLES, SEED, confidence=0.95, min_clusters=20)
            seconds.append(time.process_time() - start)
    return float(np.median(seconds))


def python_interval(sample: NDArray[np.float64]) -> NDArray[np.float64]:
    rng = np.random.default_rng(SEED)
    means = [sample[rng.integers(0, sample.size, size=sample.size)].mean() for _ in range(N_RESAMPLES)]
    return np.percentile(means, [2.5, 97.5])


def numpy_interval(sample: NDArray[np.float64]) -> NDArray[np.float64]:
    drawn = np.random.default_rng(SEED).integers(0, sample.size, size=(N_RESAMPLES, sample.size))
    return np.percentile(sample[drawn].mean(axis=1), [2.5, 97.5])


def scipy_interval(sample: NDArray[np.float64]) -> NDArray[np.float64]:
    rng = np.random.default_rng(SEED)
    return np.array(
        scipy.stats.bootstrap(
            (sample,), np.mean, n_resamples=N_RESAMPLES, method="percentile", rng=rng
        ).confidence_interval
    )


def intervals(
    interval: Callable[[NDArray[np.float64]], NDArray[np.float64]], samples: list[NDArray[np.float64]]
) -> NDArray[np.float64]:
    return np.array([interval(sample) for sample in samples])


# The slow ways are timed on so many contrasts, and scaled up to all of them; the table says so.
SLOW_WAYS = [
    ("NumPy loop over contrasts", numpy_interval, 40),
    ("scipy.stats.bootstrap", scipy_interval, 40),
    ("Python loop over resamples", python_interval, 4),
]


def median_seconds(call: Callable[[], object]) -> float:
    call()
    seconds = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds))


def peak_megabytes(call: Callable[[], object]) -> float:
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def main() -> None:
    differences = paper_size_differences()
    counts = resample_counts(N_MOTIONS, N_RESAMPLES, np.random.default_rng(SEED)).astype(np.float64)
    values = np.nan_to_num(differences.T)
    replicates = values @ counts.T

    def all_contrasts() -> BootstrapResult:
        return cluster_bootstrap_means(differences, N_RESAMPLES, SEED)

    def percentiles() -> NDArray[np.float64]:
        return np.quantile(replicates, [0.025, 0.975], axis=1)

    ours = median_seconds(all_contrasts)
    rows = [
        ("cluster_bootstrap_means", N_CONTRASTS, ours, None),
        ("the matrix product alone", N_CONTRASTS, median_seconds(lambda: values @ counts.T), None),
        ("np.quantile of the replicates alone", N_CONTRASTS, median_seconds(percentiles), None),
    ]
    result = all_contrasts()
    for name, interval, n_timed in SLOW_WAYS:
        samples = [column[~np.isnan(column)] for column in differences.T[:n_timed]]
        each_contrast = partial(intervals, interval, samples)
        bounds = np.stack([result.ci_low, result.ci_high], axis=1)[:n_timed]
        furthest = np.abs(each_contrast() - bounds).max()
        rows.append((name, n_timed, median_seconds(each_contrast) * N_CONTRASTS / n_timed, furthest))

    print(
        f"{N_RESAMPLES:,} resamples × {N_MOTIONS} motions × {N_CONTRASTS:,} contrasts on {os.cpu_count()} cores "
        f"({platform.machine()}), NumPy {np.__version__}, SciPy {scipy.__version__}; median of {REPETITIONS} runs.\n"
        f"Peak memory of cluster_bootstrap_means: {peak_megabytes(all_contrasts):.0f} MB.\n"
    )
    print(
        f"All {N_CONTRASTS * VARIANTS:,} contrasts under {VARIANTS} variants, from the mart's rows to the table of "
        f"estimates: {table_cpu_seconds(paper_size_table()):.2f} s of one core.\n"
    )
    print("| way | contrasts timed | seconds for all contrasts | time relative to ours | furthest bound from ours |")
    print("|---|--:|--:|--:|--:|")
    for name, n_timed, seconds, furthest in rows:
        scaled = "" if n_timed == N_CONTRASTS else " (scaled)"
        distance = "" if furthest is None else f"{furthest:.0e}"
        print(f"| {name} | {n_timed:,} | {seconds:.3f}{scaled} | {seconds / ours:.2f} | {distance} |")


if __name__ == "__main__":
    main()
