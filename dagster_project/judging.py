"""Which pairs and debates of the published warehouse a judge is asked about, and where its answers go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import duckdb
import pyarrow.parquet as pq

from ingest.errors import IngestError
from ingest.judge import Pair, Transcript

What = Literal["pairs", "functions", "outcomes"]
INSTRUMENTS = {"pairs": "pair_judge", "functions": "function", "outcomes": "outcome"}

# A hash of the name and the seed: as good as a draw, and the same on every machine.
_DRAWN = "md5($seed || ' ' || {name})"
_CLAIMS = """
select argument_id, claim from marts.arguments join marts.study on study.primary_extractor = arguments.extractor
"""
_LABELLED = """
select distinct argument_id, nearest_argument_id from marts.annotations
where task = 'repetition' and argument_id is not null order by all
"""
# The pooled top decile of the baseline's claims under one encoder, as many of each language [paper F.10].
_TOP_DECILE = f"""
with pairs as (
    select pairs.argument_id, pairs.nearest_argument_id, pairs.language, pairs.similarity
    from marts.max_prior_pairs as pairs
    join marts.study on study.primary_extractor = pairs.extractor
    join marts.sessions on sessions.session_id = pairs.session_id
    where pairs.encoder = $encoder and pairs.field = 'claim' and pairs.similarity is not null
        and sessions.in_analysis and sessions.condition = study.baseline_condition
        and list_contains($languages, pairs.language)
)
select argument_id, nearest_argument_id from pairs
where similarity >= (select quantile_cont(similarity, 0.9) from pairs)
qualify row_number() over (partition by language order by {_DRAWN.format(name="argument_id")}) <= $number
order by argument_id
"""
_DEBATES = f"""
select session_id, motion_text from marts.sessions
where in_analysis and list_contains($languages, language)
qualify $number is null or row_number() over (order by {_DRAWN.format(name="session_id")}) <= $number
order by session_id
"""
_TURNS = """
select turns.session_id, coalesce(template.label, turns.role, 'Turn ' || turns.turn_index) as label, turns.text
from marts.turns left join marts.turn_template as template using (turn_index)
order by turns.session_id, turns.turn_index
"""


class JudgingError(IngestError):
    """Nothing to judge, or a plan that does not fit. `str()` says what to do."""


@dataclass(frozen=True)
class Names:
    """What a judge of debates must not read: the agents and models of the warehouse, and its conditions."""

    agents: frozenset[str]
    conditions: frozenset[str]


def pairs_to_judge(warehouse: Path, plan: Path | None = None) -> list[Pair]:
    """The pairs of an audit's plan, or those that people have labelled. Raises JudgingError when there are none."""
    with duckdb.connect(warehouse, read_only=True) as database:
        if plan is None:
            chosen = database.sql(_LABELLED).fetchall()
            missing = "No pair of the warehouse is labelled; name an audit with --plan (reprise draw-audit makes one)."
        else:
            file = plan / "pairs.parquet"
            if not file.is_file():
                raise JudgingError(f"{plan} holds no plan of pairs ({file.name} is missing).")
            rows = pq.read_table(file).to_pylist()
            chosen = [(row["argument_id"], row["nearest_argument_id"]) for row in rows]
            missing = f"{plan} plans no pair."
        return _pairs(database, chosen, missing)


def high_pairs(warehouse: Path, encoder: str, languages: Sequence[str], number: int, seed: int) -> list[Pair]:
    """`number` pairs of each language from the pooled top decile under an encoder. Raises JudgingError."""
    chosen = {"encoder": encoder, "languages": list(languages), "number": number, "seed": str(seed)}
    with duckdb.connect(warehouse, read_only=True) as database:
        rows = database.execute(_TOP_DECILE, chosen).fetchall()
        return _pairs(database, rows, f"The warehouse has no baseline pairs of {encoder} in {', '.join(languages)}.")


def debates_to_judge(
    warehouse: Path, languages: Sequence[str], number: int | None, seed: int
) -> tuple[list[Transcript], Names]:
    """The analysed debates in these languages, or `number` drawn of them, and what their judge must not read.

    Raises JudgingError when there are none.
    """
    chosen: dict[str, Any] = {"languages": list(languages), "number": number, "seed": str(seed)}
    with duckdb.connect(warehouse, read_only=True) as database:
        debates = database.execute(_DEBATES, chosen).fetchall()
        turns: dict[str, list[tuple[str, str]]] = {session: [] for session, _ in debates}
        for session, label, text in database.sql(_TURNS).fetchall():
            if session in turns:
                turns[session].append((label, text))
        agents = database.sql(
            "select distinct unnest(map_keys(agents)) from marts.sessions "
            "union select distinct unnest(map_values(agents)) from marts.sessions"
        ).fetchall()
        conditions = database.sql("select distinct condition from marts.sessions").fetchall()
    if not debates:
        raise JudgingError(f"The warehouse has no analysed debate in {', '.join(languages)}.")
    names = Names(frozenset(name for (name,) in agents if name), frozenset(name for (name,) in conditions))
    return [Transcript(session, motion or "", turns[session]) for session, motion in debates], names


def _pairs(database: duckdb.DuckDBPyConnection, chosen: Sequence[tuple[str, str]], missing: str) -> list[Pair]:
    if not chosen:
        raise JudgingError(missing)
    claims = dict(database.sql(_CLAIMS).fetchall())
    if absent := [name for pair in chosen for name in pair if name not in claims]:
        raise JudgingError(f"The warehouse has no claim {absent[0]!r}: the pairs are those of another archive.")
    return [Pair(later, earlier, claims[earlier], claims[later]) for later, earlier in chosen]
