"""How often intervals hold the planted truth, and how often they exclude zero where nothing is planted.

Run from the project root: ``python -m benchmarks.calibration [studies]``. Prints a Markdown table.

Studies are drawn by ``dagster_project.estimators.simulate`` and estimated by the functions that the assets call. Each
group of statistics has a design whose truth is known: contrasts and regressions under additive effects, with missing
turns and debates; ranks, tails and repeats under normal effects, where the truth has a closed form.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import norm

from dagster_project.estimators.bootstrap import cluster_bootstrap_means
from dagster_project.estimators.encoder_agreement import encoder_agreement_table
from dagster_project.estimators.regression import regression_table
from dagster_project.estimators.repeats import repeat_noise_table
from dagster_project.estimators.resampled import Settings
from dagster_project.estimators.simulate import Effects, Study, StudyDesign, Turn, simulate
from dagster_project.estimators.tails import tail_rates_table
from ingest.reference import turn_template

MOTIONS = (10, 30, 71)
STUDIES = 500
# Contrasts are resampled as often as a study does it; what is refitted or ranked anew, less often.
CONTRASTS, OTHERS = Settings(n_resamples=5_000, seed=42), Settings(n_resamples=500, seed=42)

TEMPLATE = tuple(Turn(turn.phase, turn.role, turn.side) for turn in turn_template())
GAP = 0.047

NOTHING_PLANTED = Effects(
    agent={"agent_a": 0.02, "agent_d": -0.02},
    turn={number: 0.01 * (number - 4) for number in range(2, 9)},
)
PLANTED = replace(
    NOTHING_PLANTED,
    language={"zh": GAP},
    condition={"diversity": -0.02},
    language_condition={("zh", "diversity"): 0.01},
    agent_language={("agent_a", "zh"): 0.012, ("agent_b", "zh"): -0.012},
)
LENGTHS = {"en": 90.0, "zh": 70.0}


class Interval(NamedTuple):
    """What a study said and what was planted; NaN where there is no interval."""

    truth: float
    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Experiment:
    """A design, one without effects (None where nothing is then zero), and the intervals of a study of either."""

    design: StudyDesign
    null: StudyDesign | None
    intervals: Callable[[Study], Mapping[str, Interval]]


def contrasts(n_motions: int) -> Experiment:
    design = StudyDesign(
        TEMPLATE,
        n_motions,
        conditions=("baseline", "diversity"),
        missing=0.05,
        missing_sessions=0.02,
        effects=PLANTED,
    )
    return Experiment(design, replace(design, effects=NOTHING_PLANTED), contrast_intervals)


def contrast_intervals(study: Study) -> dict[str, Interval]:
    # Motions × languages × conditions, of the one encoder and repeat.
    agent_mean, turn_mean = (study.session_means(name)[0, ..., 0] for name in ("agent_mean", "turn_mean"))
    by_agent = study.agent_means()[0, ..., 0, :]
    gap = agent_mean[:, 1] - agent_mean[:, 0]
    agent_gap = by_agent[:, 1, 0] - by_agent[:, 0, 0]
    differences = {
        "language gap, agent mean": gap[:, 0],
        "language gap, turn mean": turn_mean[:, 1, 0] - turn_mean[:, 0, 0],
        "agent gap": agent_gap[:, 0],
        "agent contrast": agent_gap[:, 0] - agent_gap[:, 1],
        "condition effect": agent_mean[:, 1, 1] - agent_mean[:, 1, 0],
        "gap reduction": gap[:, 0] - gap[:, 1],
    }
    design, (first, second, *_) = study.design, study.design.agents
    truths = {
        "language gap, agent mean": design.gap("zh"),
        "language gap, turn mean": design.gap("zh"),
        "agent gap": design.gap("zh", agent=first),
        "agent contrast": design.gap("zh", agent=first) - design.gap("zh", agent=second),
        "condition effect": design.condition_effect("diversity", "zh"),
        "gap reduction": design.gap("zh") - design.gap("zh", "diversity"),
    }
    found = cluster_bootstrap_means(
        np.column_stack(list(differences.values())), CONTRASTS.n_resamples, CONTRASTS.seed, CONTRASTS.confidence
    )
    return {
        name: Interval(truths[name], found.estimate[place], found.ci_low[place], found.ci_high[place])
        for place, name in enumerate(differences)
    }


def regressions(n_motions: int) -> Experiment:
    effects = replace(PLANTED, condition={}, language_condition={}, per_character=0.001, claim_length=LENGTHS)
    design = StudyDesign(TEMPLATE, n_motions, missing=0.05, effects=effects)
    null = replace(design, effects=replace(NOTHING_PLANTED, per_character=0.001))
    return Experiment(design, null, regression_intervals)


def regression_intervals(study: Study) -> dict[str, Interval]:
    turns = study.turns()
    scoreable = turns.filter(pc.is_valid(turns["mean_arg_max_prev"]))
    # Only C holds the length of claims constant, through which a part of the gap runs.
    all_of_it, direct = study.design.gap("zh"), study.design.direct_gap("zh")
    return {
        f"regression {row['specification']}": _interval(row, direct if row["specification"][0] == "C" else all_of_it)
        for row in regression_table(scoreable, study.design.languages[0], OTHERS).to_pylist()
        if row["term"] == "language"
    }


def ranks(n_motions: int) -> Experiment:
    design = StudyDesign(TEMPLATE, n_motions, encoders=("encoder_a", "encoder_b"), fewest_arguments=3, most_arguments=3)
    return Experiment(design, None, rank_intervals)


def rank_intervals(study: Study) -> dict[str, Interval]:
    effects = study.design.effects
    own = effects.encoder_sd**2 + effects.argument_sd**2 / study.design.most_arguments
    # Spearman's correlation of two normal variables that have this Pearson correlation.
    truth = 6 / np.pi * np.arcsin(_shared_variance(effects) / (_shared_variance(effects) + own) / 2)
    turns = study.turns()
    english = turns.filter(pc.and_(pc.is_valid(turns["mean_arg_max_prev"]), pc.equal(turns["language"], "en")))
    (agreement,) = encoder_agreement_table(english, OTHERS).to_pylist()
    return {"encoder agreement": _interval(agreement, truth)}


def tails(n_motions: int) -> Experiment:
    design = StudyDesign(TEMPLATE, n_motions, missing=0.05, effects=Effects(language={"zh": GAP}))
    return Experiment(design, replace(design, effects=Effects()), tail_intervals)


def tail_intervals(study: Study) -> dict[str, Interval]:
    """Each difference of rates against two truths: beyond the study's own threshold, which is what resampling with the
    threshold kept speaks of, and beyond the threshold of infinitely many motions."""
    effects = study.design.effects
    spread = np.sqrt(_shared_variance(effects) + effects.encoder_sd**2 + effects.argument_sd**2)
    means = effects.level + np.array([0, study.design.gap("zh")])
    found = {}
    for row in tail_rates_table(study.pairs(), study.design.languages[0], OTHERS).to_pylist():
        if row["quantity"] == "difference":
            share = 1 - row["percentile"] / 100
            everywhere = brentq(lambda x, share=share: norm.sf(x, means, spread).mean() - share, 0, 2)
            for threshold, where in ((row["threshold"], ""), (everywhere, ", true threshold")):
                rates = norm.sf(threshold, means, spread)
                found[f"tail rates, top {share:.0%}{where}"] = _interval(row, float(rates[1] - rates[0]))
    return found


def _shared_variance(effects: Effects) -> float:
    """The variance of turns that no encoder and no argument adds to."""
    return effects.motion_sd**2 + effects.motion_language_sd**2 + effects.session_sd**2 + effects.turn_sd**2


def repeats(n_motions: int) -> Experiment:
    return Experiment(StudyDesign(TEMPLATE, n_motions, n_repeats=3), None, repeat_intervals)


def repeat_intervals(study: Study) -> dict[str, Interval]:
    design, effects = study.design, study.design.effects
    sizes = np.arange(design.fewest_arguments, design.most_arguments + 1)
    of_turn = effects.turn_sd**2 + effects.encoder_sd**2 + effects.argument_sd**2 * (1 / sizes).mean()
    truth = np.sqrt(effects.session_sd**2 + of_turn / (len(TEMPLATE) - 1))
    turns = study.turns().to_pandas().dropna(subset="mean_arg_max_prev")
    measure = ["extractor", "encoder", "field", "variant", "motion_id", "language", "condition"]
    sessions = turns.groupby([*measure, "session_id"])["mean_arg_max_prev"].mean().rename("similarity").reset_index()
    sessions["aggregate"] = "turn_mean"
    pooled = next(
        row for row in repeat_noise_table(sessions.to_dict("list"), OTHERS).to_pylist() if not row["language"]
    )
    return {"repeat noise": _interval(pooled, float(truth))}


EXPERIMENTS = (contrasts, regressions, ranks, tails, repeats)


@dataclass(frozen=True)
class Calibration:
    """What became of the intervals of one statistic.

    ``coverage`` and ``type_one`` are shares of the studies that gave an interval; ``truth`` is a mean over studies.
    """

    statistic: str
    n_motions: int
    truth: float
    mean_estimate: float
    n_intervals: int
    coverage: float
    type_one: float | None


def calibrate(experiment: Experiment, n_studies: int, seed: int) -> Iterator[Calibration]:
    """One row per statistic, from ``n_studies`` studies with the effects and as many without."""
    planted = _collect(experiment.design, experiment.intervals, n_studies, (seed, 1))
    nothing = _collect(experiment.null, experiment.intervals, n_studies, (seed, 2)) if experiment.null else {}
    for statistic, intervals in planted.items():
        truth, estimate, low, high = intervals.T
        there = np.isfinite(low)
        type_one = None
        if nothing:
            no_effect, _, null_low, null_high = nothing[statistic].T
            assert (no_effect == 0).all()
            type_one = float(((null_low > 0) | (null_high < 0))[np.isfinite(null_low)].mean())
        yield Calibration(
            statistic=statistic,
            n_motions=experiment.design.n_motions,
            truth=float(truth.mean()),
            mean_estimate=float(np.nanmean(estimate)),
            n_intervals=int(there.sum()),
            coverage=float(((low <= truth) & (truth <= high))[there].mean()),
            type_one=type_one,
        )


def _collect(
    design: StudyDesign, intervals: Callable[[Study], Mapping[str, Interval]], n_studies: int, seed: tuple[int, int]
) -> dict[str, NDArray[np.float64]]:
    """Each statistic's intervals: (n_studies, 4), in the order of ``Interval``."""
    found: dict[str, list[Interval]] = {}
    for child in np.random.SeedSequence(seed).spawn(n_studies):
        for statistic, interval in intervals(simulate(design, np.random.default_rng(child))).items():
            found.setdefault(statistic, []).append(interval)
    return {statistic: np.array(each) for statistic, each in found.items()}


def _interval(row: Mapping[str, float | None], truth: float) -> Interval:
    values = (np.nan if row[name] is None else row[name] for name in ("estimate", "ci_low", "ci_high"))
    return Interval(truth, *values)


def main() -> None:
    n_studies = int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES
    sizes = " | ".join(map(str, MOTIONS))
    most = MOTIONS[-1]
    print(f"{n_studies} studies a cell; the intervals of {' / '.join(map(str, MOTIONS))} motions.\n")
    print(f"| statistic | planted | mean at {most} | hold it, {sizes} | exclude 0 where it is 0, {sizes} |")
    print(f"|---|--:|--:|{'--:|' * 2 * len(MOTIONS)}")
    for experiment in EXPERIMENTS:
        by_size = [list(calibrate(experiment(n_motions), n_studies, seed=n_motions)) for n_motions in MOTIONS]
        for rows in zip(*by_size, strict=True):
            cells = [f"{row.coverage:.1%}" for row in rows]
            cells += ["–" if row.type_one is None else f"{row.type_one:.1%}" for row in rows]
            lacking = sum(n_studies - row.n_intervals for row in rows)
            name = rows[-1].statistic + (f" ({lacking} without an interval)" if lacking else "")
            print(
                f"| {name} | {rows[-1].truth:+.4f} | {rows[-1].mean_estimate:+.4f} | {' | '.join(cells)} |", flush=True
            )


if __name__ == "__main__":
    main()
