"""A small lake whose answers are known: debates with every irregularity that the marts have to handle, and no text.

What is in it stays in Python (`Debate`, `KnownLake`), so that a test can compute the marts a second time without SQL.
"""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dagster_project.study import Study, study_table
from embeddings.schemas import ENCODERS, NULL_MAXIMA, PAIRS
from ingest import reference
from ingest.archive.schemas import ARCHIVE_SCHEMAS, REJECTS_SCHEMA
from ingest.parse.schemas import ARGUMENTS_SCHEMA, EXTRACTION_PARSES_SCHEMA
from ingest.run.export import write_no_ledger
from tests.dbt.known_instruments import write_instruments

AGENTS = {"pro_1": "claude", "con_1": "gpt-5.5", "pro_2": "mistral", "con_2": "deepseek"}
TYPES_RAW = ("economic", " Moral ", "historical|economic", "unclear", "")
FAILED, MISSING = "failed", "missing"
PROVENANCE = {"part": "main", "file": "known.jsonl", "line": 1, "extra": None}


@dataclass(frozen=True)
class Debate:
    """One session. `outcomes[extractor][turn]` is the number of arguments, or FAILED or MISSING."""

    session_id: str
    motion_id: str
    language: str
    condition: str
    repeat: int
    outcomes: dict[str, dict[int, int | str]]
    n_turns: int = 8
    says_agents: bool = True


@dataclass(frozen=True)
class Nearest:
    """The nearest earlier argument of one argument."""

    argument_id: str
    similarity: float


@dataclass
class KnownLake:
    """The debates, and for (session, turn, argument, extractor, encoder, field) what the pairs say.

    `nearest` is the nearest earlier argument, `fixed_pool` the expectations at pools of 5 and 10. `null_maxima` holds
    the comparisons with other motions as rows.
    """

    root: Path
    study: Study
    debates: tuple[Debate, ...]
    nearest: dict[tuple[str, int, int, str, str, str], Nearest | None] = field(default_factory=dict)
    fixed_pool: dict[tuple[str, int, int, str, str, str], tuple[float | None, ...]] = field(default_factory=dict)
    null_maxima: list[dict[str, Any]] = field(default_factory=list)


def debates() -> tuple[Debate, ...]:
    """Three motions, three languages, two conditions, and the cases that decide correctness."""
    counts = random.Random(7)

    def debate(motion: str, language: str, condition: str, repeat: int = 1, **changes: Any) -> Debate:
        session_id = f"{motion}-{language}-{condition}-r{repeat}"
        outcomes = {"main": {turn: counts.randint(1, 3) for turn in range(1, 9)}}
        for extractor, turns in changes.pop("outcomes", {}).items():
            outcomes[extractor] = {**outcomes.get(extractor, {}), **turns}
        return Debate(session_id, motion, language, condition, repeat, outcomes, **changes)

    all_failed = {"main": dict.fromkeys(range(1, 9), FAILED)}
    return (
        debate("M1", "en", "baseline"),
        debate("M1", "en", "baseline", repeat=2, says_agents=False),
        # Turn 1 fails, so turn 2 has no pool; turn 4 fails too: gpt-5.5 speaks both and has no scoreable turn.
        debate("M1", "zh", "baseline", outcomes={"main": {1: FAILED, 4: FAILED}}),
        debate("M1", "ar", "baseline", outcomes={"second": {1: 2, 2: MISSING, 3: 1, 4: FAILED, 5: 2, 6: 1, 8: 3}}),
        debate("M1", "en", "diversity"),
        debate("M1", "zh", "diversity"),
        debate("M1", "ar", "diversity", n_turns=7),
        debate("M2", "en", "baseline", outcomes={"main": {5: MISSING}}),
        debate("M2", "zh", "baseline"),
        debate("M2", "ar", "baseline"),
        debate("M2", "en", "diversity"),
        debate("M2", "zh", "diversity"),
        debate("M2", "ar", "diversity", outcomes=all_failed),
        # No Chinese session: motion M3 has no Chinese gap.
        debate("M3", "en", "baseline"),
        debate("M3", "ar", "baseline"),
    )


def write_lake(root: Path) -> KnownLake:
    """Write every table that dbt's first step reads below `root`."""
    study = Study(
        name="known",
        archive=Path("known"),
        # The published order of Table 6 has these two the other way round.
        agents=("claude", "gpt-5.5", "deepseek", "mistral"),
        encoders=("bge-m3", "toy"),
        fields=("claim", "claim_warrant"),
        incomplete_sessions="exclude",
        groupings={"side": None},
        extractors=("main", "second"),
    )
    lake = KnownLake(root, study, debates())
    (root / "build").mkdir(parents=True)
    _write_study(lake)
    _write_archive(lake)
    _write_argument_units(lake)
    _write_pairs(lake)
    _write_null_maxima(lake)
    write_instruments(root, study.encoders)
    write_no_ledger(root / "ledger" / "current")
    return lake


def arguments_of(debate: Debate, extractor: str) -> Iterator[tuple[int, int]]:
    """(turn, argument index) of every argument, in order."""
    for turn, outcome in sorted(debate.outcomes[extractor].items()):
        if isinstance(outcome, int) and turn <= debate.n_turns:
            yield from ((turn, index) for index in range(1, outcome + 1))


def _write(directory: Path, name: str, rows: list[dict[str, Any]], schema: pa.Schema) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), directory / f"{name}.parquet")


def _write_study(lake: KnownLake) -> None:
    directory = lake.root / "study" / "current"
    directory.mkdir(parents=True)
    pq.write_table(study_table(lake.study), directory / "study.parquet")
    reference.write_reference(directory)


def _write_archive(lake: KnownLake) -> None:
    directory = lake.root / "archive" / "current"
    template = {turn.turn_index: turn for turn in reference.turn_template()}
    motions = sorted({(debate.motion_id, debate.language) for debate in lake.debates})
    qa = {"adequacy_score": 5, "preserves_scope": False, "issue_type": "none"}
    _write(
        directory,
        "motions",
        [
            {"motion_id": motion, "language": language, "motion_text": f"{motion} in {language}", **PROVENANCE}
            | (qa if language == "zh" else {})
            for motion, language in motions
        ],
        ARCHIVE_SCHEMAS["motions"],
    )
    _write(
        directory,
        "sessions",
        [
            {
                "session_id": debate.session_id,
                "motion_id": debate.motion_id,
                "motion_text": f"{debate.motion_id} in {debate.language}",
                "language": debate.language,
                "condition": debate.condition,
                "repeat": debate.repeat,
                "role_mapping": list(AGENTS.items()),
                "agents": [(agent, f"{agent}-model") for agent in AGENTS.values()],
                "status": "complete",
                "started_at": "2026-01-02T03:04:05+02:00",
                "finished_at": "some day",
                **PROVENANCE,
            }
            for debate in lake.debates
        ],
        ARCHIVE_SCHEMAS["sessions"],
    )
    for language in (known.language for known in reference.languages()):
        rows = [
            {
                "session_id": debate.session_id,
                "turn_index": turn,
                "text": "你好。真的？" if language == "zh" else "One. Two three?",
                **PROVENANCE,
            }
            | (
                {
                    "phase": template[turn].phase,
                    "role": template[turn].role,
                    "side": template[turn].side,
                    "agent": AGENTS[template[turn].role],
                }
                if debate.says_agents
                else {}
            )
            for debate in lake.debates
            if debate.language == language
            for turn in range(1, debate.n_turns + 1)
        ]
        _write(directory / "turns" / f"language={language}", "turns", rows, ARCHIVE_SCHEMAS["turns"])
    _write(
        directory,
        "rejects",
        [
            {
                "part": "main",
                "file": "turns.jsonl",
                "line": 7,
                "table_name": "turns",
                "record_id": None,
                "reason": "not_json",
                "detail": "The line is cut off; deliver it whole.",
                "raw_line": '{"session_id": "it\'s',
            }
        ],
        REJECTS_SCHEMA,
    )


def _write_argument_units(lake: KnownLake) -> None:
    arguments, parses = [], []
    types = random.Random(11)
    for debate in lake.debates:
        for extractor, outcomes in debate.outcomes.items():
            for turn, outcome in sorted(outcomes.items()):
                if outcome == MISSING or turn > debate.n_turns:
                    continue
                place = {"session_id": debate.session_id, "language": debate.language, "turn_index": turn}
                parses.append(
                    {
                        **place,
                        "extractor": extractor,
                        "parsed": outcome != FAILED,
                        "reason": "truncated" if outcome == FAILED else None,
                        "labels": [],
                        "n_arguments": 0 if outcome == FAILED else outcome,
                        "n_blank_claims": 0,
                        "raw_response": "{",
                    }
                )
            arguments += [
                {
                    "argument_id": f"{debate.session_id}/{turn}/{index}",
                    "extractor": extractor,
                    "session_id": debate.session_id,
                    "language": debate.language,
                    "turn_index": turn,
                    "argument_index": index,
                    "claim": "A claim.",
                    "warrant": "",
                    "evidence_or_example": "",
                    "argument_type_raw": types.choice(TYPES_RAW),
                }
                for turn, index in arguments_of(debate, extractor)
            ]
    directory = lake.root / "argument_units" / "current"
    _write(directory, "arguments", arguments, ARGUMENTS_SCHEMA)
    _write(directory, "extraction_parses", parses, EXTRACTION_PARSES_SCHEMA)


def _write_null_maxima(lake: KnownLake) -> None:
    """Comparisons with every other motion of the language, condition and repeat that has arguments before the turn."""
    draw = random.Random(17)
    directory = lake.root / "null_maxima" / "current"
    for encoder in lake.study.encoders:
        rows = []
        for debate, other in product(lake.debates, lake.debates):
            place = (debate.language, debate.condition, debate.repeat)
            if debate.motion_id == other.motion_id or place != (other.language, other.condition, other.repeat):
                continue
            for extractor in debate.outcomes.keys() & other.outcomes.keys():
                turns = Counter(turn for turn, _ in arguments_of(debate, extractor))
                first = min((turn for turn, _ in arguments_of(other, extractor)), default=9)
                for field_name, (turn, n) in product(lake.study.fields, sorted(turns.items())):
                    if turn > first:
                        rows.append(
                            {
                                "session_id": debate.session_id,
                                "other_session_id": other.session_id,
                                "extractor": extractor,
                                "encoder": encoder,
                                "field": field_name,
                                "turn_index": turn,
                                "n_draws": n,
                                "mean": draw.randint(0, 60) / 100,
                                "sum_squared_deviations": draw.randint(0, 9) / 100 if n > 1 else 0.0,
                            }
                        )
        rows.sort(key=lambda row: (row["session_id"], row["other_session_id"], row["extractor"]))
        lake.null_maxima += rows
        _write(directory, f"null-{encoder}", rows, NULL_MAXIMA)


def _write_pairs(lake: KnownLake) -> None:
    """Similarities on a coarse grid, so that ties occur; a tie goes to the earliest argument."""
    draw, fixed_draw = random.Random(13), random.Random(19)
    directory = lake.root / "max_prior_pairs" / "current"
    for encoder in lake.study.encoders:
        rows = []
        for debate in lake.debates:
            for extractor in debate.outcomes:
                places = list(arguments_of(debate, extractor))
                for field_name in lake.study.fields:
                    for turn, index in places:
                        pool = [place for place in places if place[0] < turn]
                        similarities = [draw.randint(-20, 100) / 100 for _ in pool]
                        best = max(similarities, default=None)
                        nearest = None
                        if best is not None:
                            there = pool[similarities.index(best)]
                            nearest = Nearest(f"{debate.session_id}/{there[0]}/{there[1]}", best)
                        fixed = tuple(fixed_draw.randint(-20, 90) / 100 if len(pool) >= k else None for k in (5, 10))
                        lake.nearest[debate.session_id, turn, index, extractor, encoder, field_name] = nearest
                        lake.fixed_pool[debate.session_id, turn, index, extractor, encoder, field_name] = fixed
                        rows.append(
                            {
                                "argument_id": f"{debate.session_id}/{turn}/{index}",
                                "extractor": extractor,
                                "encoder": encoder,
                                "field": field_name,
                                "session_id": debate.session_id,
                                "turn_index": turn,
                                "nearest_argument_id": nearest and nearest.argument_id,
                                "similarity": nearest and nearest.similarity,
                                "fixed_k5": fixed[0],
                                "fixed_k10": fixed[1],
                                "prior_pool_size": len(pool),
                                "over_max_length": False,
                            }
                        )
        _write(directory, f"pairs-{encoder}", rows, PAIRS)
    _write(
        directory,
        "encoders",
        [
            {
                "encoder": encoder,
                "encoder_key": f"key-{encoder}",
                "backend": "toy",
                "model": encoder,
                "revision": "1",
                "prefix": "",
                "dtype": "float32",
                "batch_size": 1,
                "normalize": True,
                "n_texts": 1,
                "n_over_max_length": 0,
            }
            for encoder in lake.study.encoders
        ],
        ENCODERS,
    )
