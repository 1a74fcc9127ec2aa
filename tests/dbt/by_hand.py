"""The derivations of the marts a second time, with loops over the known lake and the words of docs and spec only."""

from collections import defaultdict
from itertools import product
from math import sqrt
from statistics import fmean

from ingest import reference
from tests.dbt.known_lake import AGENTS, FAILED, MISSING, Debate, KnownLake

Measure = tuple[str, str, str]
"""(extractor, encoder, field)."""

ROLE = {turn.turn_index: turn.role for turn in reference.turn_template()}


def agent(turn: int) -> str:
    return AGENTS[ROLE[turn]]


class ByHand:
    """`turns[session, turn, *measure]` is (value, reason, n_arguments, pool); `agents`, `sessions` hold the aggregates.

    `variants[session, turn, *measure, variant]` is (value, reason) of each variant but raw.
    `contrasts` maps (contrast, language, reference language, condition, reference condition, agent, reference agent,
    *measure, aggregate, motion) to the difference.
    """

    def __init__(self, lake: KnownLake) -> None:
        self.lake = lake
        self.turns: dict[tuple, tuple] = {}
        self.variants: dict[tuple, tuple] = {}
        self.agents: dict[tuple, tuple[float | None, int]] = {}
        self.sessions: dict[tuple, tuple[float | None, float | None, int, int]] = {}
        cells: dict[tuple, list[float]] = defaultdict(list)
        self.null = self._null()
        for debate in lake.debates:
            for measure in self._measures(debate):
                self._score(debate, measure)
                if debate.n_turns == 8:
                    self._aggregate(debate, measure, cells)
        self.contrasts = self._contrasts({cell: fmean(values) for cell, values in cells.items()})

    def _measures(self, debate: Debate) -> list[Measure]:
        return list(product(debate.outcomes, self.lake.study.encoders, self.lake.study.fields))

    def _score(self, debate: Debate, measure: Measure) -> None:
        extractor, encoder, field = measure
        pool = 0
        for turn in range(1, debate.n_turns + 1):
            outcome = debate.outcomes[extractor].get(turn, MISSING)
            nearest = [
                self.lake.nearest[debate.session_id, turn, index, extractor, encoder, field]
                for index in range(1, outcome + 1 if isinstance(outcome, int) else 1)
            ]
            value = fmean(pair.similarity for pair in nearest) if nearest and pool else None
            reason = None
            if turn == 1:
                reason = "first_turn"
            elif outcome == MISSING:
                reason = "extraction_missing"
            elif outcome == FAILED:
                reason = "extraction_failed"
            elif not pool:
                reason = "empty_prior_pool"
            n_arguments = outcome if isinstance(outcome, int) else None
            self.turns[debate.session_id, turn, *measure] = (value, reason, n_arguments, pool)
            self._vary(debate, turn, measure, n_arguments)
            pool += n_arguments or 0

    def _null(self) -> dict[tuple, tuple[float, float]]:
        """Mean and standard deviation over all draws of a language, condition, measure and turn."""
        complete = {debate.session_id: debate for debate in self.lake.debates if debate.n_turns == 8}
        draws: dict[tuple, list[tuple[int, float, float]]] = defaultdict(list)
        for row in self.lake.null_maxima:
            debate = complete.get(row["session_id"])
            if debate and row["other_session_id"] in complete:
                measure = (row["extractor"], row["encoder"], row["field"])
                draws[debate.language, debate.condition, *measure, row["turn_index"]].append(
                    (row["n_draws"], row["mean"], row["sum_squared_deviations"])
                )
        null = {}
        for cell, rows in draws.items():
            total = sum(n for n, _, _ in rows)
            mean = sum(n * here for n, here, _ in rows) / total
            squares = sum(within + n * (here - mean) ** 2 for n, here, within in rows)
            null[cell] = (mean, sqrt(squares / (total - 1)) if total > 1 else None, total)
        return null

    def _vary(self, debate: Debate, turn: int, measure: Measure, n_arguments: int | None) -> None:
        raw, reason, _, pool = self.turns[debate.session_id, turn, *measure]
        mean, sd, _ = self.null.get((debate.language, debate.condition, *measure, turn), (None, None, 0))
        found = {"null_adjusted": (None, "no_null_distribution"), "z_scored": (None, "no_null_distribution")}
        if mean is not None and raw is not None:
            found["null_adjusted"] = (raw - mean, None)
            found["z_scored"] = ((raw - mean) / sd, None) if sd else (None, "null_without_spread")
        for place, k in enumerate((5, 10)):
            values = [
                self.lake.fixed_pool[debate.session_id, turn, index, *measure][place]
                for index in range(1, (n_arguments or 0) + 1)
            ]
            found[f"fixed_k{k}"] = (fmean(values), None) if values and pool >= k else (None, "prior_pool_too_small")
        for variant, (value, variant_reason) in found.items():
            key = (debate.session_id, turn, *measure, variant)
            self.variants[key] = (None, reason) if reason else (value, variant_reason)

    def _aggregate(self, debate: Debate, measure: Measure, cells: dict[tuple, list[float]]) -> None:
        by_agent: dict[str, list[float]] = {name: [] for name in AGENTS.values()}
        for turn in range(1, 9):
            value = self.turns[debate.session_id, turn, *measure][0]
            if value is not None:
                by_agent[agent(turn)].append(value)
        cell = (debate.motion_id, debate.language, debate.condition)
        for name, values in by_agent.items():
            self.agents[debate.session_id, name, *measure] = (fmean(values) if values else None, len(values))
            if values:
                cells[*cell, name, *measure, "agent_mean"].append(fmean(values))
        agent_means = [fmean(values) for values in by_agent.values() if values]
        scored = [value for values in by_agent.values() for value in values]
        agent_mean, turn_mean = (fmean(agent_means), fmean(scored)) if scored else (None, None)
        self.sessions[debate.session_id, *measure] = (agent_mean, turn_mean, len(scored), len(agent_means))
        if scored:
            cells[*cell, None, *measure, "agent_mean"].append(agent_mean)
            cells[*cell, None, *measure, "turn_mean"].append(turn_mean)

    def _contrasts(self, cells: dict[tuple, float]) -> dict[tuple, float]:
        study = self.lake.study
        found: dict[tuple, float] = {}
        gaps: dict[tuple, float] = {}
        for (motion, language, condition, name, *rest), value in cells.items():
            measure, aggregate = rest[:-1], rest[-1]
            reference_value = cells.get((motion, study.reference_language, condition, name, *rest))
            if language != study.reference_language and reference_value is not None:
                gap = gaps[motion, language, condition, name, *rest] = value - reference_value
                kind = "agent_gap" if name else "language_gap"
                found[kind, language, "en", condition, None, name, None, *measure, aggregate, motion] = gap
            baseline = cells.get((motion, language, study.baseline_condition, name, *rest))
            if condition != study.baseline_condition and baseline is not None and name is None:
                effect = value - baseline
                found["condition_effect", language, None, condition, "baseline", None, None, *rest, motion] = effect
        for (motion, language, condition, name, *rest), gap in gaps.items():
            if name is not None:
                for earlier in study.agents[: study.agents.index(name)]:
                    other = gaps.get((motion, language, condition, earlier, *rest))
                    if other is not None:
                        key = ("agent_contrast", language, "en", condition, None, name, earlier, *rest, motion)
                        found[key] = gap - other
            elif condition != study.baseline_condition:
                baseline = gaps.get((motion, language, study.baseline_condition, None, *rest))
                if baseline is not None:
                    key = (language, "en", condition, "baseline", None, None, *rest, motion)
                    found["gap_reduction", *key] = baseline - gap
                    found["condition_change", *key] = gap - baseline
        return found
