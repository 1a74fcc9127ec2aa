"""Every judgment of a snapshot into what its judge decided."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from ingest.judge.answers import (
    FailedJudgment,
    FunctionLabel,
    Judgment,
    OutcomeScores,
    PairLabel,
    parse_judgment,
)
from ingest.judge.schemas import JUDGMENT_PARSES_SCHEMA
from ingest.parquet import RowWriter

Progress = Callable[[int, int], None]

_BATCH_ROWS = 1024


@dataclass(frozen=True)
class JudgmentReport:
    """What the judgments came to: `judgments` counts by instrument, `reasons` failures by reason.

    `n_judgments` is `n_parsed` + `n_failed`.
    """

    n_judgments: int
    n_parsed: int
    n_failed: int
    judgments: Mapping[str, int]
    reasons: Mapping[str, int]
    labels: Mapping[str, int]


def parse_judgments(snapshot_dir: Path, dest: Path, progress: Progress | None = None) -> JudgmentReport:
    """Reads the judgments of a snapshot; writes judgment_parses.parquet into `dest`, in the snapshot's order.

    `progress` gets judgments done and judgments in all.
    """
    dest.mkdir(parents=True, exist_ok=True)
    source = snapshot_dir / "judgments.parquet"
    judgments: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    with (
        RowWriter(dest / "judgment_parses.parquet", JUDGMENT_PARSES_SCHEMA) as writer,
        pq.ParquetFile(source) as stored,
    ):
        total = stored.metadata.num_rows
        for batch in stored.iter_batches(_BATCH_ROWS):
            for judgment in batch.to_pylist():
                outcome = parse_judgment(judgment["instrument"], judgment["raw_response"])
                judgments[judgment["instrument"]] += 1
                if isinstance(outcome, FailedJudgment):
                    reasons[outcome.reason] += 1
                else:
                    labels.update(outcome.labels)
                writer.add(_row(judgment, outcome), len(judgment["raw_response"]))
            if progress is not None:
                progress(judgments.total(), total)
    return JudgmentReport(
        n_judgments=judgments.total(),
        n_parsed=judgments.total() - reasons.total(),
        n_failed=reasons.total(),
        judgments=dict(sorted(judgments.items())),
        reasons=dict(sorted(reasons.items())),
        labels=dict(sorted(labels.items())),
    )


def _row(judgment: Mapping[str, Any], outcome: Judgment | FailedJudgment) -> dict[str, Any]:
    delivered = {name: judgment[name] for name in JUDGMENT_PARSES_SCHEMA.names if name in judgment and name != "extra"}
    if isinstance(outcome, FailedJudgment):
        return delivered | {"parsed": False, "reason": outcome.reason, "labels": []}
    return (
        delivered
        | _decision(outcome)
        | {
            "parsed": True,
            "labels": list(outcome.labels),
            "rationale": outcome.rationale,
            "extra": json.dumps(outcome.extra, ensure_ascii=False, sort_keys=True) if outcome.extra else None,
        }
    )


def _decision(outcome: Judgment) -> dict[str, Any]:
    match outcome:
        case PairLabel(label=label):
            return {"label": label}
        case FunctionLabel(function=function):
            return {"function": function}
        case OutcomeScores(scores=scores):
            return dict(scores)
    raise TypeError(f"{type(outcome).__name__} is no judgment of a known instrument")
