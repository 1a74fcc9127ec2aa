"""The measure computed a second time, from the archive alone and without any code of the project.

It reads the JSON Lines, asks the encoder packages for vectors, and follows the definitions literally with loops.
Slow and plain on purpose: what it shares with the warehouse is the definition only.
"""

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

Key = tuple[str, ...]


def read(archive: Path, table: str) -> list[dict]:
    return [json.loads(line) for line in (archive / f"{table}.jsonl").read_text(encoding="utf-8").split("\n") if line]


class Recomputed:
    """All raw similarities of one archive under one encoder and field.

    `pairs[argument_id]` is (similarity, nearest id) or None, `turns[session, turn_index]` is the mean or None,
    `agent_mean[session]` and `turn_mean[session]` are the two aggregates, `gaps[motion, language, condition]` is
    (gap of agent_mean, gap of turn_mean).
    """

    def __init__(
        self,
        archive: Path,
        encode: Callable[[list[str]], np.ndarray],
        fields: tuple[str, ...] = ("claim",),
        reference_language: str = "en",
    ) -> None:
        self.sessions = {session["session_id"]: session for session in read(archive, "sessions")}
        self.agent = {(turn["session_id"], turn["turn_index"]): turn["agent"] for turn in read(archive, "turns")}
        self.arguments: dict[tuple[str, int], list[str]] = {}
        for extraction in read(archive, "extractions"):
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
        self.turns: dict[tuple[str, int], float | None] = {}
        for session in self.sessions:
            self._score(session)
        self.agent_mean = {session: self._agent_mean(session) for session in self.sessions}
        self.turn_mean = {session: self._turn_mean(session) for session in self.sessions}
        self.gaps = self._gaps(reference_language)

    def _score(self, session: str) -> None:
        prior: list[tuple[str, np.ndarray]] = []
        for turn in range(1, 9):
            here = self.arguments.get((session, turn), [])
            nearest = []
            for number, text in enumerate(here, start=1):
                best = None
                for prior_id, prior_vector in prior:
                    similarity = float(self._vector[text] @ prior_vector)
                    if best is None or similarity > best[0] + 1e-12:
                        best = (similarity, prior_id)
                self.pairs[f"{session}/{turn}/{number}"] = best
                nearest.append(best)
            self.turns[session, turn] = (
                sum(best[0] for best in nearest) / len(nearest) if nearest and nearest[0] is not None else None
            )
            prior += [(f"{session}/{turn}/{number}", self._vector[text]) for number, text in enumerate(here, start=1)]

    def _agent_mean(self, session: str) -> float | None:
        by_agent = defaultdict(list)
        for turn in range(1, 9):
            if self.turns[session, turn] is not None:
                by_agent[self.agent[session, turn]].append(self.turns[session, turn])
        return _mean([_mean(values) for values in by_agent.values()])

    def _turn_mean(self, session: str) -> float | None:
        return _mean([self.turns[session, turn] for turn in range(1, 9) if self.turns[session, turn] is not None])

    def _gaps(self, reference_language: str) -> dict[Key, tuple[float, float]]:
        cells = defaultdict(lambda: ([], []))
        for name, session in self.sessions.items():
            cell = cells[session["motion_id"], session["language"], session["condition"]]
            for values, value in zip(cell, (self.agent_mean[name], self.turn_mean[name]), strict=True):
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
