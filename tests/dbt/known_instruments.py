"""What annotators and judges said about the known debates, with the cases that the marts of instruments must handle."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from embeddings.schemas import PAIR_SCORES, SCORERS
from ingest.archive.schemas import ARCHIVE_SCHEMAS
from ingest.judge.schemas import JUDGMENT_PARSES_SCHEMA

PROVENANCE = {"part": "main", "file": "known", "line": 1, "extra": None}
EN, ZH = "M1-en-baseline-r1", "M1-zh-baseline-r1"

# (later argument, earlier argument): (annotator, round, label), stratum, weight. M1-en-baseline-r1 has at least one
# argument in every turn; in M1-zh turns 1 and 4 failed.
LABELS: dict[tuple[str, str], tuple[list[tuple[str, int | None, int]], str | None, float | None]] = {
    (f"{EN}/3/1", f"{EN}/1/1"): ([("r1", None, 2), ("r2", None, 2)], "en-q5", 1.5),
    (f"{EN}/4/1", f"{EN}/1/1"): ([("r1", 1, 1), ("r2", 1, 2)], "en-q2", 4.0),
    (f"{EN}/5/1", f"{EN}/2/1"): ([("r1", 1, 0), ("r2", 1, 3), ("r1", 2, 3)], "en-q3", 2.0),
    (f"{EN}/6/1", f"{EN}/2/1"): ([("r1", 1, 3)], None, None),
    (f"{ZH}/3/1", f"{ZH}/2/1"): ([("r1", 1, 0), ("r2", 1, 1), ("r3", 1, 3)], "zh-q1", 2.5),
    (f"{ZH}/5/1", f"{ZH}/2/1"): ([("r1", 1, 3), ("r2", 1, 3)], "zh-q5", 1.0),
}
AUDITS = [
    (EN, 1, "r1", 5, False),
    (EN, 1, "r2", 4, True),
    (ZH, 2, "r1", 3, False),
    (ZH, 2, "r2", 3, None),
]
DIMENSIONS = ("argumentative_development", "engagement", "final_argument_quality", "overall_quality")
# session: (judge, round): scores in the order of DIMENSIONS, None for an answer that cannot be read.
SCORES: dict[tuple[str, str, int | None], tuple[int, int, int, int] | None] = {
    (EN, "j", None): (7, 8, 7, 7),
    ("M1-en-baseline-r2", "j", 1): (9, 9, 8, 8),
    (EN, "j", 2): (8, 8, 7, 7),
    ("M1-en-diversity-r1", "j", 1): (9, 9, 9, 9),
    (ZH, "j", 1): (7, 7, 7, 7),
    ("M1-zh-diversity-r1", "j", 1): (8, 9, 8, 8),
    ("M2-en-baseline-r1", "j", 1): (8, 8, 8, 8),
    ("M2-en-diversity-r1", "j", 1): None,
}
# Of the first four turns; they enter no figure of whole debates.
PREFIX_SCORES: dict[tuple[str, str, int | None], tuple[int, int, int, int]] = {
    (EN, "j", None): (1, 2, 3, 4),
    ("M1-zh-diversity-r1", "k", 1): (5, 5, 5, 5),
}


def annotations() -> list[dict[str, Any]]:
    rows = [
        {
            "task": "repetition",
            "annotator": annotator,
            "round": number,
            "argument_id": pair[0],
            "nearest_argument_id": pair[1],
            "label": label,
            "stratum": stratum,
            "weight": weight,
            **PROVENANCE,
        }
        for pair, (labels, stratum, weight) in LABELS.items()
        for annotator, number, label in labels
    ]
    rows += [
        {
            "task": "extraction",
            "annotator": annotator,
            "session_id": session,
            "turn_index": turn,
            "quality": quality,
            "hallucination": hallucination,
            **PROVENANCE,
        }
        for session, turn, annotator, quality, hallucination in AUDITS
    ]
    return rows


def judgments() -> list[dict[str, Any]]:
    common = {"judge": "j", "round": 1, "parsed": True, "labels": [], "raw_response": "{}", **PROVENANCE}
    rows = [
        common
        | {"instrument": "pair_judge", "argument_id": pair[0], "nearest_argument_id": pair[1], "label": number % 4}
        for number, pair in enumerate(LABELS)
    ]
    unreadable = {"parsed": False, "reason": "truncated", "raw_response": '{"label":'}
    pair = {"argument_id": f"{EN}/7/1", "nearest_argument_id": f"{EN}/2/1"}
    rows += [
        common | {"instrument": "pair_judge", **pair} | unreadable,
        common | {"instrument": "function", **pair, "function": "rebuttal_or_response"},
        common | {"instrument": "function", **pair, "judge": "k", "function": "redundant_restatement"},
        common
        | {"instrument": "function", "argument_id": f"{ZH}/5/1", "nearest_argument_id": f"{ZH}/2/1"}
        | unreadable,
    ]
    for (session, judge, number), scores in SCORES.items():
        row = common | {"instrument": "outcome", "session_id": session, "judge": judge, "round": number}
        rows.append(row | (unreadable if scores is None else dict(zip(DIMENSIONS, scores, strict=True))))
    for (session, judge, number), scores in PREFIX_SCORES.items():
        row = common | {"instrument": "outcome", "session_id": session, "judge": judge, "round": number, "n_turns": 4}
        rows.append(row | dict(zip(DIMENSIONS, scores, strict=True)))
    return rows


def scores(encoders: tuple[str, ...]) -> list[dict[str, Any]]:
    """chrF and the encoders' cosines of the labelled pairs."""
    return [
        {
            "argument_id": pair[0],
            "nearest_argument_id": pair[1],
            "extractor": "main",
            "field": "claim",
            "scorer": scorer,
            "score": 0.1 * number,
        }
        for scorer in ("chrf", *encoders)
        for number, pair in enumerate(LABELS)
    ]


def write_instruments(root: Path, encoders: tuple[str, ...]) -> None:
    """Write annotations, judgments and pair scores below `root`."""
    _write(root / "archive" / "current" / "annotations.parquet", annotations(), ARCHIVE_SCHEMAS["annotations"])
    _write(root / "judgments" / "current" / "judgment_parses.parquet", judgments(), JUDGMENT_PARSES_SCHEMA)
    _write(root / "pair_scores" / "current" / "pair_scores.parquet", scores(encoders), PAIR_SCORES)
    scorer = {
        "scorer": "chrf",
        "backend": "chrf",
        "model": "chrF",
        "revision": "1",
        "resolved_revision": "1",
        "device": "cpu",
        "library_versions": [("sacrebleu", "2")],
    }
    _write(root / "pair_scores" / "current" / "scorers.parquet", [scorer], SCORERS)


def _write(file: Path, rows: list[dict[str, Any]], schema: pa.Schema) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), file)
