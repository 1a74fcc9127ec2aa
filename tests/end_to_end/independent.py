"""The measure computed a second time, from the archive alone and without any code of the project.

It reads the JSON Lines, asks the encoder packages for vectors, and follows the definitions literally with loops.
Slow and plain on purpose: what it shares with the warehouse is the definition only.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Collection
from math import comb
from pathlib import Path

import numpy as np

Key = tuple[str, ...]


def read(archive: Path, table: str) -> list[dict]:
    return [json.loads(line) for line in (archive / f"{table}.jsonl").read_text(encoding="utf-8").split("\n") if line]


class Recomputed:
    """All similarities of one archive, or of some of its languages and conditions, under one encoder and field.

    `pairs[argument_id]` is (similarity, nearest id) or None. `null[language, condition, turn_index]` is the mean, the
    standard deviation and the number of draws. By variant: `aggregates[variant][session]` is (agent_mean, turn_mean),
    `gaps[variant][motion, language, condition]` is (gap of agent_mean, gap of turn_mean).
    """

    def __init__(
        self,
        archive: Path,
        encode: Callable[[list[str]], np.ndarray],
        fields: tuple[str, ...] = ("claim",),
        reference_language: str = "en",
        languages: Collection[str] | None = None,
        conditions: Collection[str] | None = None,
    ) -> None:
        self.sessions = {
            session["session_id"]: session
            for session in read(archive, "sessions")
            if (languages is None or session["language"] in languages)
            and (conditions is None or session["condition"] in conditions)
        }
        self.agent = {(turn["session_id"], turn["turn_index"]): turn["agent"] for turn in read(archive, "turns")}
        self.arguments: dict[tuple[str, int], list[str]] = {}
        for extraction in read(archive, "extractions"):
            if extraction["session_id"] not in self.sessions:
                continue
            units = json.loads(extraction["raw_response"])["arguments"]
            self.arguments[extraction["session_id"], extraction["turn_index"]] = [
                " ".join(unit[field].strip() for field in fields if unit[field] and unit[field].strip())
                for unit in units
            ]
        texts = sorted({text for turn in self.arguments.values() for text in turn})
        vectors = encode(texts).astype(np.float64)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        self._vector = dict(zip(texts, vectors, strict=True))

        self.pairs: dict[str, tuple[float, str] | None] = {}
        self.turns: dict[str, dict[tuple[str, int], float | None]] = {"raw": {}, "fixed_k5": {}, "fixed_k10": {}}
        for session in self.sessions:
            self._score(session)
        self.null = self._null()
        self._adjust()
        self.aggregates = {
            variant: {session: self._aggregates(session, turns) for session in self.sessions}
            for variant, turns in self.turns.items()
        }
        self.gaps = {variant: self._gaps(variant, reference_language) for variant in self.turns}

    def _score(self, session: str) -> None:
        prior: list[tuple[str, np.ndarray]] = []
        for turn in range(1, 9):
            here = self.arguments.get((session, turn), [])
            nearest, expected = [], {5: [], 10: []}
            for number, text in enumerate(here, start=1):
                best = None
                for prior_id, prior_vector in prior:
                    similarity = float(self._vector[text] @ prior_vector)
                    if best is None or similarity > best[0] + 1e-12:
                        best = (similarity, prior_id)
                self.pairs[f"{session}/{turn}/{number}"] = best
                nearest.append(best)
                similarities = sorted((float(self._vector[text] @ vector) for _, vector in prior), reverse=True)
                for k, values in expected.items():
                    if len(prior) >= k:
                        subsets = comb(len(prior), k)
                        values.append(
                            sum(comb(len(prior) - i, k - 1) / subsets * s for i, s in enumerate(similarities, start=1))
                        )
            known = nearest and nearest[0] is not None
            self.turns["raw"][session, turn] = _mean([best[0] for best in nearest]) if known else None
            for k, values in expected.items():
                self.turns[f"fixed_k{k}"][session, turn] = _mean(values)
            prior += [(f"{session}/{turn}/{number}", self._vector[text]) for number, text in enumerate(here, start=1)]

    def _null(self) -> dict[tuple[str, str, int], tuple[float, float, int]]:
        draws = defaultdict(list)
        for name, session in self.sessions.items():
            for other_name, other in self.sessions.items():
                alike = all(session[key] == other[key] for key in ("language", "condition", "repeat"))
                if not alike or session["motion_id"] == other["motion_id"]:
                    continue
                pool: list[np.ndarray] = []
                for turn in range(1, 9):
                    for text in self.arguments.get((name, turn), []) if pool else []:
                        maximum = max(float(value) for value in np.stack(pool) @ self._vector[text])
                        draws[session["language"], session["condition"], turn].append(maximum)
                    pool += [self._vector[text] for text in self.arguments.get((other_name, turn), [])]
        return {
            cell: (float(np.mean(values)), float(np.std(values, ddof=1)), len(values)) for cell, values in draws.items()
        }

    def _adjust(self) -> None:
        self.turns["null_adjusted"], self.turns["z_scored"] = {}, {}
        for (name, turn), value in self.turns["raw"].items():
            session = self.sessions[name]
            null = self.null.get((session["language"], session["condition"], turn))
            known = value is not None and null is not None
            self.turns["null_adjusted"][name, turn] = value - null[0] if known else None
            self.turns["z_scored"][name, turn] = (value - null[0]) / null[1] if known else None

    def _aggregates(
        self, session: str, turns: dict[tuple[str, int], float | None]
    ) -> tuple[float | None, float | None]:
        by_agent = defaultdict(list)
        for turn in range(1, 9):
            if turns[session, turn] is not None:
                by_agent[self.agent[session, turn]].append(turns[session, turn])
        return (
            _mean([_mean(values) for values in by_agent.values()]),
            _mean([value for values in by_agent.values() for value in values]),
        )

    def _gaps(self, variant: str, reference_language: str) -> dict[Key, tuple[float, float]]:
        cells = defaultdict(lambda: ([], []))
        for name, session in self.sessions.items():
            cell = cells[session["motion_id"], session["language"], session["condition"]]
            for values, value in zip(cell, self.aggregates[variant][name], strict=True):
                if value is not None:
                    values.append(value)
        means = {key: tuple(_mean(values) for values in cell) for key, cell in cells.items()}
        return {
            (motion, language, condition): tuple(
                here - there for here, there in zip(mean, means[motion, reference_language, condition], strict=True)
            )
            for (motion, language, condition), mean in means.items()
            if language != reference_language and (motion, reference_language, condition) in means
        }


def percentile_interval(differences: list[float], seed: int = 42, resamples: int = 5000) -> tuple[float, float]:
    """A motion bootstrap written the long way round: draw motions, average, sort."""
    rng = np.random.default_rng(seed)
    means = [np.mean(rng.choice(differences, size=len(differences), replace=True)) for _ in range(resamples)]
    return float(np.percentile(means, 2.5)), float(np.percentile(means, 97.5))


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
