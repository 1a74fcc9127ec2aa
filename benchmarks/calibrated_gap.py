"""How often the calibrated gap's interval holds the truth, on audits of simulated debates with a planted curve.

Run from the project root: ``python -m benchmarks.calibrated_gap [runs]``. Prints a Markdown table.

The population is two languages × motions × pairs; a similarity is its language's mean plus effects of motion, session
and pair. A pair's label is drawn from a planted curve of its similarity. The audit labels as many pairs in every
language and quintile, as the study's does. One curve is what calibration by bins takes for granted, constant within
each quintile of the pooled distribution; the other rises smoothly, so that bins must flatten it.
"""

import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import norm

from dagster_project.estimators.calibration import N_BINS, calibrated_rates
from dagster_project.estimators.resampled import Settings, estimated

Curve = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""From similarities (n,) to the probabilities of the labels 0 to 3, (n, 4)."""

MEANS = np.array([0.60, 0.65])
MOTION_SD, SESSION_SD, PAIR_SD = 0.02, 0.02, 0.07
SD = float(np.sqrt(MOTION_SD**2 + SESSION_SD**2 + PAIR_SD**2))
PAIRS_PER_SESSION = 27
LABELLED_PER_CELL = 20
STEPS = np.array(
    [
        [0.50, 0.38, 0.10, 0.02],
        [0.40, 0.38, 0.17, 0.05],
        [0.25, 0.37, 0.28, 0.10],
        [0.15, 0.30, 0.35, 0.20],
        [0.05, 0.15, 0.35, 0.45],
    ]
)


def _pooled_quantile(share: float) -> float:
    return float(brentq(lambda x: norm.cdf(x, MEANS, SD).mean() - share, 0, 1.5))


EDGES = np.array([_pooled_quantile(share) for share in (0.2, 0.4, 0.6, 0.8)])


def stepped(similarity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Constant within each quintile of the pooled distribution."""
    return STEPS[np.searchsorted(EDGES, similarity)]


def smooth(similarity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Three logistic steps, one after the other, that cross most of their height within a quintile or two."""
    at_least = [expit((similarity - middle) / 0.04) for middle in (0.58, 0.67, 0.74)]
    return -np.diff(np.stack([np.ones_like(similarity), *at_least, np.zeros_like(similarity)], axis=1))


CURVES: dict[str, Curve] = {"stepped": stepped, "smooth": smooth}


def true_gap(curve: Curve, lowest: int) -> float:
    """Difference of the rates of labels from `lowest` between the two languages, over infinitely many motions."""
    grid = np.linspace(0, 1.3, 260_001)
    density = norm.pdf(grid, MEANS[:, np.newaxis], SD)
    rate = np.trapezoid(density * curve(grid)[:, lowest:].sum(axis=1), grid, axis=1)
    return float(rate[1] - rate[0])


def simulated_audit(
    curve: Curve, n_motions: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Labelled pairs by bin and label, and the population by language, motion and bin, as `calibrated_rates` wants.

    Bins are the quintiles of the population that was drawn.
    """
    n_pairs = rng.poisson(PAIRS_PER_SESSION, size=(2, n_motions))
    motion_effect = rng.normal(0, MOTION_SD, n_motions)
    session_effect = rng.normal(0, SESSION_SD, (2, n_motions))
    language = np.repeat([0, 1], n_pairs.sum(axis=1))
    motion = np.concatenate([np.repeat(np.arange(n_motions), row) for row in n_pairs])
    pair_effect = rng.normal(0, PAIR_SD, len(language))
    similarity = MEANS[language] + motion_effect[motion] + session_effect[language, motion] + pair_effect
    of_bin = np.searchsorted(np.quantile(similarity, [0.2, 0.4, 0.6, 0.8]), similarity)
    label = (rng.random((len(similarity), 1)) > np.cumsum(curve(similarity)[:, :-1], axis=1)).sum(axis=1)

    population = np.zeros((2, n_motions, N_BINS), dtype=np.int64)
    np.add.at(population, (language, motion, of_bin), 1)
    labels_in_bin = np.zeros((N_BINS, 4), dtype=np.int64)
    for number in range(N_BINS):
        for code in (0, 1):
            cell = np.flatnonzero((of_bin == number) & (language == code))
            chosen = rng.choice(cell, size=min(LABELLED_PER_CELL, len(cell)), replace=False)
            labels_in_bin[number] += np.bincount(label[chosen], minlength=4)
    return labels_in_bin, population


def simulated_gaps(
    curve: Curve, n_motions: int, lowest: int, runs: int, n_resamples: int = 1000, seed: int = 20260709
) -> NDArray[np.float64]:
    """Estimate, lower and upper end of the calibrated gap in each of `runs` simulated audits: (runs, 3)."""
    settings = Settings(n_resamples=n_resamples, seed=42, min_clusters=2)
    gaps = []
    for rng in np.random.default_rng(seed).spawn(runs):
        labels_in_bin, population = simulated_audit(curve, n_motions, rng)
        rate = calibrated_rates(labels_in_bin, population, lowest, n_resamples, int(rng.integers(2**31))).rate
        found = estimated(rate[:, 1] - rate[:, 0], n_motions, settings, "")
        gaps.append([found.value, found.low, found.high])
    return np.array(gaps)


def main(runs: int) -> None:
    print("| curve | motions | collapse | true gap | mean estimate | intervals that hold the truth |")
    print("|---|--:|---|--:|--:|--:|")
    for shape, curve in CURVES.items():
        for n_motions in (10, 30, 71):
            for collapse, lowest in (("repeated", 2), ("strict", 3)):
                truth = true_gap(curve, lowest)
                estimate, low, high = simulated_gaps(curve, n_motions, lowest, runs).T
                held = np.mean((low <= truth) & (truth <= high))
                print(
                    f"| {shape} | {n_motions} | {collapse} | {truth:+.4f} | {estimate.mean():+.4f} | {held:.1%} |",
                    flush=True,
                )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
