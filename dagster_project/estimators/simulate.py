"""Studies with known answers: the oracle that estimators, marts and the search for nearest arguments are held to.

A simulated study is drawn from planted effects. It is available as similarities (tables like the marts') and as unit
vectors of arguments whose nearest earlier argument, and its cosine, are those that were planted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

# How much of an argument's new direction it shares with its turn: enough to make the turn's other arguments, which are
# no priors, nearer to it than any earlier one.
_SHARED_WITHIN_TURN = 0.9


class Turn(NamedTuple):
    """A turn of the template."""

    phase: str
    role: str
    side: str


@dataclass(frozen=True)
class Effects:
    """What is planted, in units of similarity; what is not named has the effect 0.

    Standard deviations are those of normal effects with mean 0: of a motion in all its debates, of a motion in one
    language (so that gaps differ between motions), of a session, of a turn, of an argument, and of a turn under one
    encoder. ``claim_length`` is the mean length of a language's claims, and ``per_character`` what a character of a
    turn's mean length adds to its similarity.
    """

    level: float = 0.55
    language: Mapping[str, float] = field(default_factory=dict)
    condition: Mapping[str, float] = field(default_factory=dict)
    language_condition: Mapping[tuple[str, str], float] = field(default_factory=dict)
    agent: Mapping[str, float] = field(default_factory=dict)
    agent_language: Mapping[tuple[str, str], float] = field(default_factory=dict)
    turn: Mapping[int, float] = field(default_factory=dict)
    claim_length: Mapping[str, float] = field(default_factory=dict)
    per_character: float = 0.0
    motion_sd: float = 0.02
    motion_language_sd: float = 0.015
    session_sd: float = 0.01
    turn_sd: float = 0.03
    argument_sd: float = 0.04
    encoder_sd: float = 0.02
    claim_length_sd: float = 8.0


@dataclass(frozen=True)
class StudyDesign:
    """What a study consists of. The first language is the reference language, the first condition the baseline.

    A turn has between ``fewest_arguments`` and ``most_arguments`` arguments, or none with the probability ``missing``;
    with the probability ``missing_sessions`` none of a session's turns has any. Each motion deals the agents to the
    roles at random and keeps them in every language.
    """

    template: tuple[Turn, ...]
    n_motions: int = 71
    languages: tuple[str, ...] = ("en", "zh")
    conditions: tuple[str, ...] = ("baseline",)
    agents: tuple[str, ...] = ("agent_a", "agent_b", "agent_c", "agent_d")
    encoders: tuple[str, ...] = ("encoder_a",)
    n_repeats: int = 1
    fewest_arguments: int = 1
    most_arguments: int = 4
    missing: float = 0.0
    missing_sessions: float = 0.0
    effects: Effects = Effects()

    def gap(self, language: str, condition: str | None = None, agent: str | None = None) -> float:
        """The planted language gap, of one agent or of the mean over agents."""
        return self._level(language, condition, agent) - self._level(self.languages[0], condition, agent)

    def direct_gap(self, language: str) -> float:
        """The baseline gap that is left when the length of claims is held constant."""
        lengths = self.effects.claim_length
        longer = lengths.get(language, 0.0) - lengths.get(self.languages[0], 0.0)
        return self.gap(language) - self.effects.per_character * longer

    def condition_effect(self, condition: str, language: str) -> float:
        """The planted effect of a condition against the baseline, within a language."""
        return self._level(language, condition, None) - self._level(language, None, None)

    def _level(self, language: str, condition: str | None, agent: str | None) -> float:
        condition = self.conditions[0] if condition is None else condition
        effects = self.effects
        agents = self.agents if agent is None else (agent,)
        of_agents = [effects.agent.get(a, 0.0) + effects.agent_language.get((a, language), 0.0) for a in agents]
        return (
            effects.language.get(language, 0.0)
            + effects.condition.get(condition, 0.0)
            + effects.language_condition.get((language, condition), 0.0)
            + effects.per_character * effects.claim_length.get(language, 0.0)
            + float(np.mean(of_agents))
        )


@dataclass(frozen=True, eq=False)
class Study:
    """One drawn study, as arrays over motions, languages, conditions, repeats and turns, in this order.

    agent: index of the agent who holds the turn; int (motions, turns).
    n_arguments: arguments of the turn, 0 where it has none; int (motions, languages, conditions, repeats, turns).
    controls: what a regression may hold constant, in the shape of ``n_arguments``: mean_claim_length,
        empty_warrant_rate, empty_evidence_rate, sentence_count.
    similarity: planted similarity of each argument to its nearest earlier one, NaN where there is no argument or no
        earlier one; (encoders, motions, languages, conditions, repeats, turns, most arguments).
    """

    design: StudyDesign
    agent: NDArray[np.int64]
    n_arguments: NDArray[np.int64]
    controls: Mapping[str, NDArray]
    similarity: NDArray[np.float64]

    @property
    def prior_pool_size(self) -> NDArray[np.int64]:
        """Arguments of strictly earlier turns, in the shape of ``n_arguments``."""
        return np.cumsum(self.n_arguments, axis=-1) - self.n_arguments

    @property
    def turn_similarity(self) -> NDArray[np.float64]:
        """Means over the arguments of each turn, NaN where it is not scoreable: the shape without arguments."""
        return _mean(self.similarity, axis=-1)

    def session_means(self, aggregate: str) -> NDArray[np.float64]:
        """``agent_mean`` or ``turn_mean`` of each session: (encoders, motions, languages, conditions, repeats)."""
        return _mean(self.agent_means(), axis=-1) if aggregate == "agent_mean" else _mean(self.turn_similarity, axis=-1)

    def agent_means(self) -> NDArray[np.float64]:
        """The mean over each agent's scoreable turns, agents last; NaN where it has none."""
        turns = self.turn_similarity
        means = np.empty((*turns.shape[:-1], len(self.design.agents)))
        for number in range(len(self.design.agents)):
            holds = (self.agent == number)[:, None, None, None, :]
            means[..., number] = _mean(np.where(holds, turns, np.nan), axis=-1)
        return means

    def turns(self) -> pa.Table:
        """One row per turn and encoder: the columns of ``marts.turn_similarity``, and those of a regression."""
        design = self.design
        shape = (len(design.encoders), *self.n_arguments.shape)
        encoder, motion, language, condition, repeat, turn = (axis.ravel() for axis in np.indices(shape))
        similarity = self.turn_similarity.ravel()
        n_arguments, pool = (
            np.broadcast_to(array, shape).ravel() for array in (self.n_arguments, self.prior_pool_size)
        )
        names = {
            "motion_id": np.array(_motion_ids(design.n_motions))[motion],
            "language": np.array(design.languages)[language],
            "condition": np.array(design.conditions)[condition],
        }
        session = ["-".join(parts) for parts in zip(*names.values(), (repeat + 1).astype(str), strict=True)]
        reason = np.full(len(turn), None, dtype=object)
        reason[pool == 0] = "empty_prior_pool"
        reason[n_arguments == 0] = "extraction_failed"
        reason[turn == 0] = "first_turn"
        return pa.table(
            {
                "session_id": session,
                **names,
                "repeat": pa.array(repeat + 1, pa.int32()),
                "turn_index": pa.array(turn + 1, pa.int32()),
                **{name: np.array([getattr(t, name) for t in design.template])[turn] for name in Turn._fields},
                "agent": np.array(design.agents)[self.agent[motion, turn]],
                "extractor": pa.repeat("extractor", len(turn)),
                "encoder": np.array(design.encoders)[encoder],
                "field": pa.repeat("claim", len(turn)),
                "variant": pa.repeat("raw", len(turn)),
                "mean_arg_max_prev": pa.array(similarity, mask=np.isnan(similarity)),
                "n_arguments": pa.array(n_arguments, pa.int32(), mask=n_arguments == 0),
                "prior_pool_size": pa.array(pool, pa.int32()),
                "null_reason": pa.array(reason, pa.string()),
                **{name: np.broadcast_to(array, shape).ravel() for name, array in self.controls.items()},
            }
        )

    def pairs(self) -> pa.Table:
        """One row per argument with an earlier one and encoder, as ``tail_rates_table`` reads them."""
        design = self.design
        there = ~np.isnan(self.similarity)
        encoder, motion, language, condition, *_ = np.nonzero(there)
        encoders = np.array(design.encoders)[encoder]
        return pa.table(
            {
                "condition": np.array(design.conditions)[condition],
                "extractor": pa.repeat("extractor", len(encoders)),
                "encoder": encoders,
                "field": pa.repeat("claim", len(encoders)),
                "scorer": encoders,
                "motion_id": np.array(_motion_ids(design.n_motions))[motion],
                "language": np.array(design.languages)[language],
                "value": self.similarity[there],
            }
        )


@dataclass(frozen=True, eq=False)
class ArgumentVectors:
    """Arguments of a study as unit vectors, in the order of session, turn and argument.

    vectors: (n, d). session: number of the session. turn_index: from 1. similarity: planted cosine to the nearest
    earlier argument, NaN without one. nearest: row of that argument, -1 without one.
    """

    vectors: NDArray[np.float64]
    session: NDArray[np.int64]
    turn_index: NDArray[np.int64]
    similarity: NDArray[np.float64]
    nearest: NDArray[np.int64]


def simulate(design: StudyDesign, rng: np.random.Generator) -> Study:
    """Draw a study. The same design and generator state give the same study.

    Raises ValueError for an effect of a language, condition, agent or turn that the design does not have.
    """
    _check_names(design)
    effects = design.effects
    n_turns = len(design.template)
    cells = (design.n_motions, len(design.languages), len(design.conditions), design.n_repeats)

    n_arguments = rng.integers(design.fewest_arguments, design.most_arguments + 1, size=(*cells, n_turns))
    n_arguments[rng.random(n_arguments.shape) < design.missing] = 0
    n_arguments[rng.random(cells) < design.missing_sessions] = 0
    dealt = rng.permuted(np.tile(np.arange(len(design.agents)), (design.n_motions, 1)), axis=1)
    roles = sorted({turn.role for turn in design.template})
    agent = dealt[:, [roles.index(turn.role) % len(design.agents) for turn in design.template]]

    of_language = np.array([effects.claim_length.get(language, 0.0) for language in design.languages])
    controls = {
        "mean_claim_length": of_language[:, None, None, None]
        + rng.normal(0, effects.claim_length_sd, size=n_arguments.shape),
        "empty_warrant_rate": rng.binomial(n_arguments, 0.3) / np.maximum(n_arguments, 1),
        "empty_evidence_rate": rng.binomial(n_arguments, 0.7) / np.maximum(n_arguments, 1),
        "sentence_count": rng.integers(4, 7, size=n_arguments.shape),
    }
    of_agent = np.array(
        [
            [
                effects.agent.get(a, 0.0) + effects.agent_language.get((a, language), 0.0)
                for language in design.languages
            ]
            for a in design.agents
        ]
    )
    of_cell = np.array(
        [
            [
                effects.language.get(language, 0.0)
                + effects.condition.get(condition, 0.0)
                + effects.language_condition.get((language, condition), 0.0)
                for condition in design.conditions
            ]
            for language in design.languages
        ]
    )
    turn_means = (
        effects.level
        + of_cell[:, :, None, None]
        + np.moveaxis(of_agent[agent], 2, 1)[:, :, None, None, :]
        + np.array([effects.turn.get(number, 0.0) for number in range(1, n_turns + 1)])
        + effects.per_character * controls["mean_claim_length"]
        + rng.normal(0, effects.motion_sd, size=(design.n_motions, 1, 1, 1, 1))
        + rng.normal(0, effects.motion_language_sd, size=(design.n_motions, len(design.languages), 1, 1, 1))
        + rng.normal(0, effects.session_sd, size=(*cells, 1))
        + rng.normal(0, effects.turn_sd, size=(*cells, n_turns))
    )
    under_encoders = turn_means + rng.normal(0, effects.encoder_sd, size=(len(design.encoders), *turn_means.shape))
    similarity = under_encoders[..., None] + rng.normal(
        0, effects.argument_sd, size=(*under_encoders.shape, design.most_arguments)
    )
    has_pool = np.cumsum(n_arguments, axis=-1) > n_arguments
    there = (np.arange(design.most_arguments) < n_arguments[..., None]) & has_pool[..., None]
    return Study(design, agent, n_arguments, controls, np.where(there, similarity, np.nan))


def argument_vectors(study: Study, encoder: int, rng: np.random.Generator) -> ArgumentVectors:
    """Unit vectors whose nearest earlier arguments, and cosines to them, are those of the study under one encoder.

    An argument lies in the plane of an earlier argument, at the planted cosine, and of a direction that no earlier turn
    has. Its cosine to any other earlier argument is then the planted one times a cosine below 1. The new directions of
    one turn lie close together, so that arguments of the same turn are nearer to each other than to what came before: a
    pool that is not strictly earlier gives other answers.

    Raises ValueError for a planted similarity outside (0, 1).
    """
    planted = study.similarity[encoder]
    if (planted[~np.isnan(planted)] <= 0).any() or (planted[~np.isnan(planted)] >= 1).any():
        raise ValueError("planted similarities must lie between 0 and 1; plant smaller effects or another level")
    n_turns, most = planted.shape[-2:]
    planted = planted.reshape(-1, n_turns, most)
    n_arguments = study.n_arguments.reshape(-1, n_turns)
    dimension = n_turns + int(n_arguments.sum(axis=1).max(initial=0))
    rotation = np.linalg.qr(rng.normal(size=(dimension, dimension)))[0]

    vectors, session, turn_index, similarity, nearest = [], [], [], [], []
    for number, counts in enumerate(n_arguments):
        first = len(vectors)
        for turn, count in enumerate(counts):
            pool = len(vectors)
            for place in range(count):
                own = n_turns + len(vectors) - first
                vector = (
                    np.sqrt(_SHARED_WITHIN_TURN) * rotation[turn] + np.sqrt(1 - _SHARED_WITHIN_TURN) * rotation[own]
                )
                cosine, prior = planted[number, turn, place], -1
                if pool > first:
                    prior = int(rng.integers(first, pool))
                    vector = cosine * vectors[prior] + np.sqrt(1 - cosine**2) * vector
                vectors.append(vector)
                session.append(number)
                turn_index.append(turn + 1)
                similarity.append(cosine)
                nearest.append(prior)
    return ArgumentVectors(
        np.array(vectors).reshape(-1, dimension),
        np.array(session, dtype=np.int64),
        np.array(turn_index, dtype=np.int64),
        np.array(similarity, dtype=np.float64),
        np.array(nearest, dtype=np.int64),
    )


def _check_names(design: StudyDesign) -> None:
    effects = design.effects
    turns = set(range(1, len(design.template) + 1))
    named = {
        "language": ({*effects.language, *effects.claim_length}, set(design.languages)),
        "condition": (set(effects.condition), set(design.conditions)),
        "agent": (set(effects.agent), set(design.agents)),
        "turn": (set(effects.turn), turns),
        "language and condition": (
            set(effects.language_condition),
            {(language, condition) for language in design.languages for condition in design.conditions},
        ),
        "agent and language": (
            set(effects.agent_language),
            {(agent, language) for agent in design.agents for language in design.languages},
        ),
    }
    for kind, (planted, known) in named.items():
        if planted - known:
            raise ValueError(
                f"an effect is planted for {kind} {min(planted - known)!r}, which the design does not have"
            )


def _motion_ids(n_motions: int) -> list[str]:
    return [f"M{number:03}" for number in range(1, n_motions + 1)]


def _mean(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """The mean of what is not NaN; NaN where nothing is."""
    there = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.where(there, values, 0).sum(axis=axis) / there.sum(axis=axis)
