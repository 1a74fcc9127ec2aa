"""Refits of specification C on resampled motions, by each motion's sums, against refits of the resampled rows."""

import time

import numpy as np
from statsmodels.regression.linear_model import OLS
from threadpoolctl import threadpool_limits

from dagster_project.estimators.bootstrap import resample_counts
from dagster_project.estimators.regression import CONTROLS, design, refit_on_resamples

N_MOTIONS = 71
N_RESAMPLES = 5_000
# Refits that are timed and scaled up: five thousand of them take minutes.
N_TIMED = 20

TEMPLATE = [
    ("opening", "con_1", "con"), ("rebuttal", "pro_1", "pro"), ("rebuttal", "con_1", "con"),
    ("cross_exam", "pro_2", "pro"), ("cross_exam", "con_2", "con"), ("closing", "pro_2", "pro"),
    ("closing", "con_2", "con"),
]  # fmt: skip


def turns() -> dict[str, list]:
    """The turns of a paper-size study with a prior pool in two languages: N = 994."""
    rng = np.random.default_rng(1)
    rows = [
        {
            "motion_id": f"M{motion:03}", "language": language, "phase": phase, "role": role, "side": side,
            "agent": f"agent {(motion + number) % 4}", "mean_arg_max_prev": rng.normal(0.7, 0.05),
            **{name: rng.normal() for name in CONTROLS},
        }
        for motion in range(N_MOTIONS)
        for language in ("en", "zh")
        for number, (phase, role, side) in enumerate(TEMPLATE)
    ]  # fmt: skip
    return {name: [row[name] for row in rows] for name in rows[0]}


def refit(given, draw: np.ndarray) -> float:
    """The language's coefficient, fitted by statsmodels on the rows of the drawn motions, each copy with its effect."""
    rows = [np.flatnonzero(given.motion == motion) for motion in draw]
    copy = np.repeat(np.arange(len(draw)), [len(some) for some in rows])
    matrix = np.column_stack([given.regressors[np.concatenate(rows)], np.eye(len(draw))[copy]])
    return OLS(given.outcome[np.concatenate(rows)], matrix).fit().params[0]


def main() -> None:
    given = design(turns(), "zh", "C")
    counts = resample_counts(N_MOTIONS, N_RESAMPLES, np.random.default_rng(42)).astype(np.float64)
    started = time.perf_counter()
    replicates = refit_on_resamples(given, counts)[:, 0]
    ours = time.perf_counter() - started

    started = time.perf_counter()
    refits = [refit(given, np.repeat(np.arange(N_MOTIONS), row.astype(int))) for row in counts[:N_TIMED]]
    theirs = (time.perf_counter() - started) / N_TIMED * N_RESAMPLES
    furthest = np.abs(replicates[:N_TIMED] - refits).max()
    print(f"{N_RESAMPLES:,} refits of specification C, N = {len(given.outcome)}, {N_MOTIONS} motions\n")
    print("| way | seconds | times ours | furthest coefficient from ours |\n|---|--:|--:|--:|")
    print(f"| sums of each motion | {ours:.3f} | 1 | |")
    print(f"| statsmodels, scaled from {N_TIMED} refits | {theirs:.1f} | {theirs / ours:.0f} | {furthest:.0e} |")


if __name__ == "__main__":
    # With more threads, small fits wait for each other: statsmodels would look twice as slow as it is.
    with threadpool_limits(1):
        main()
