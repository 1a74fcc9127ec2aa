"""Which pairs and turns people are asked about: stratified samples with the weights of their strata [paper F.7, F.8].

A plan is a table: the same population, numbers and seed give the same plan. Items come in a random order, and each has
a task id that says nothing about it, because ids of arguments can name a language, a condition or an agent.
"""

import hashlib
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dagster_project.estimators.grouped import groups

N_STRATA = 5

_STRATUM = [
    pa.field("stratum", pa.string(), nullable=False),
    pa.field("population", pa.int64(), nullable=False),
    pa.field("n_sampled", pa.int64(), nullable=False),
    pa.field("weight", pa.float64(), nullable=False),
]
PAIR_PLAN_SCHEMA = pa.schema(
    [
        pa.field("position", pa.int64(), nullable=False),
        pa.field("task_id", pa.string(), nullable=False),
        pa.field("argument_id", pa.string(), nullable=False),
        pa.field("nearest_argument_id", pa.string(), nullable=False),
        pa.field("language", pa.string(), nullable=False),
        pa.field("similarity", pa.float64(), nullable=False),
        *_STRATUM,
    ]
)
TURN_PLAN_SCHEMA = pa.schema(
    [
        pa.field("position", pa.int64(), nullable=False),
        pa.field("task_id", pa.string(), nullable=False),
        pa.field("session_id", pa.string(), nullable=False),
        pa.field("turn_index", pa.int32(), nullable=False),
        pa.field("language", pa.string(), nullable=False),
        *_STRATUM,
    ]
)


def sample_pairs(pairs: pa.Table, per_stratum: int, seed: int) -> pa.Table:
    """At most ``per_stratum`` pairs of each language and quintile of similarity, in ``PAIR_PLAN_SCHEMA``.

    ``pairs`` is the population, one row per argument: argument_id, nearest_argument_id, language, similarity. Quintiles
    are those of all its languages together; a similarity on an edge belongs to the quintile below. A stratum is called
    like ``zh-q4``, q5 being the highest; ``weight`` is its population over what was sampled of it.

    Raises ValueError for ``per_stratum`` below 1, a similarity that is missing or not finite, and an argument that is
    there twice.
    """
    _check(pairs, ["argument_id"], per_stratum)
    similarity = np.array(pairs["similarity"].to_pylist(), dtype=np.float64)
    if not np.isfinite(similarity).all():
        raise ValueError("every pair of the population needs a finite similarity; leave the others out, and say so")
    edges = np.quantile(similarity, np.arange(1, N_STRATA) / N_STRATA) if len(similarity) else []
    quintile = np.searchsorted(edges, similarity)
    strata = [f"{code}-q{number + 1}" for code, number in zip(pairs["language"].to_pylist(), quintile, strict=True)]
    return _sampled(pairs, ["argument_id", "nearest_argument_id"], strata, per_stratum, seed, PAIR_PLAN_SCHEMA)


def sample_turns(turns: pa.Table, per_language: int, seed: int) -> pa.Table:
    """At most ``per_language`` turns of each language, in ``TURN_PLAN_SCHEMA``; the stratum is the language.

    ``turns`` is the population: session_id, turn_index, language. Raises ValueError as ``sample_pairs`` does.
    """
    _check(turns, ["session_id", "turn_index"], per_language)
    strata = turns["language"].to_pylist()
    return _sampled(turns, ["session_id", "turn_index"], strata, per_language, seed, TURN_PLAN_SCHEMA)


def _sampled(
    table: pa.Table, key: Sequence[str], strata: list[str], size: int, seed: int, schema: pa.Schema
) -> pa.Table:
    rng = np.random.default_rng(seed)
    # Rows are taken in the order of their keys: how the population lies must not decide who is drawn.
    ordered = table.append_column("stratum", pa.array(strata, pa.string()))
    ordered = ordered.sort_by([(name, "ascending") for name in key])
    chosen: list[dict[str, object]] = []
    for named, members in groups(ordered, ["stratum"]):
        population = len(members["stratum"])
        n_sampled = min(size, population)
        drawn: NDArray[np.int64] = rng.choice(population, size=n_sampled, replace=False)
        for row in sorted(drawn.tolist()):
            item = {name: column[row] for name, column in members.items()}
            share = {"population": population, "n_sampled": n_sampled, "weight": population / n_sampled}
            chosen.append(item | named | share | {"task_id": _task_id(seed, [item[name] for name in key])})
    order = rng.permutation(len(chosen)).tolist()
    rows = [chosen[place] | {"position": position} for position, place in enumerate(order, start=1)]
    return pa.Table.from_pylist(rows, schema=schema)


def _task_id(seed: int, key: Sequence[object]) -> str:
    return hashlib.sha256(repr((seed, *key)).encode()).hexdigest()[:16]


def _check(table: pa.Table, key: Sequence[str], size: int) -> None:
    if size < 1:
        raise ValueError(f"sample at least one of each stratum, not {size}")
    keys = list(zip(*(table[name].to_pylist() for name in key), strict=True))
    if len(set(keys)) != len(keys):
        raise ValueError(f"the population has one row per {' and '.join(key)}, but some are there twice")
