"""Every extractor answer of a snapshot into argument units."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from ingest.parquet import RowWriter
from ingest.parse.extractor_answer import Failed, Parsed, parse_answer
from ingest.parse.schemas import ARGUMENTS_SCHEMA, EXTRACTION_PARSES_SCHEMA

Progress = Callable[[int, int], None]

_BATCH_ROWS = 1024


@dataclass(frozen=True)
class ParseReport:
    """What the answers came to. `n_extractions` is `n_parsed` + `n_failed`.

    `reasons` counts failures by reason, `labels` parsed answers by label (an answer can have several), `arguments`
    units by extractor.
    """

    n_extractions: int
    n_parsed: int
    n_failed: int
    n_arguments: int
    n_blank_claims: int
    reasons: Mapping[str, int]
    labels: Mapping[str, int]
    arguments: Mapping[str, int]


def parse_extractions(snapshot_dir: Path, dest: Path, progress: Progress | None = None) -> ParseReport:
    """Parses the extractions of a snapshot; writes arguments.parquet and extraction_parses.parquet into `dest`.

    `argument_id` is session_id/turn_index/argument_index, where argument_index counts a turn's kept units from 1.
    Rows come language by language in the snapshot's order. `progress` gets answers done and answers in all.
    """
    dest.mkdir(parents=True, exist_ok=True)
    sources = sorted((snapshot_dir / "extractions").glob("language=*/*.parquet"))
    total = sum(pq.read_metadata(path).num_rows for path in sources)
    done = n_parsed = n_blank_claims = 0
    reasons: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    arguments: Counter[str] = Counter()
    with (
        RowWriter(dest / "arguments.parquet", ARGUMENTS_SCHEMA) as arguments_writer,
        RowWriter(dest / "extraction_parses.parquet", EXTRACTION_PARSES_SCHEMA) as parses_writer,
    ):
        for path in sources:
            language = path.parent.name.removeprefix("language=")
            with pq.ParquetFile(path) as stored:
                for batch in stored.iter_batches(_BATCH_ROWS):
                    for extraction in batch.to_pylist():
                        raw = extraction["raw_response"]
                        outcome = parse_answer(raw)
                        parses_writer.add(_parse_row(extraction, language, outcome), len(raw))
                        n_blank_claims += outcome.n_blank_claims
                        if isinstance(outcome, Failed):
                            reasons[outcome.reason] += 1
                            continue
                        n_parsed += 1
                        labels.update(outcome.labels)
                        arguments[extraction["extractor"]] += len(outcome.units)
                        for row in _argument_rows(extraction, language, outcome):
                            arguments_writer.add(row, len(raw) // len(outcome.units))
                    done += len(batch)
                    if progress is not None:
                        progress(done, total)
    return ParseReport(
        n_extractions=done,
        n_parsed=n_parsed,
        n_failed=done - n_parsed,
        n_arguments=arguments.total(),
        n_blank_claims=n_blank_claims,
        reasons=dict(sorted(reasons.items())),
        labels=dict(sorted(labels.items())),
        arguments=dict(sorted(arguments.items())),
    )


def _parse_row(extraction: Mapping[str, Any], language: str, outcome: Parsed | Failed) -> dict[str, Any]:
    parsed = isinstance(outcome, Parsed)
    return {
        "session_id": extraction["session_id"],
        "language": language,
        "turn_index": extraction["turn_index"],
        "extractor": extraction["extractor"],
        "parsed": parsed,
        "reason": None if parsed else outcome.reason,
        "labels": list(outcome.labels) if parsed else [],
        "n_arguments": len(outcome.units) if parsed else 0,
        "n_blank_claims": outcome.n_blank_claims,
        "finish_reason": extraction["finish_reason"],
        "raw_response": extraction["raw_response"],
        "extra": _as_json(outcome.extra) if parsed else None,
    }


def _argument_rows(extraction: Mapping[str, Any], language: str, parsed: Parsed) -> list[dict[str, Any]]:
    session_id, turn_index = extraction["session_id"], extraction["turn_index"]
    return [
        {
            "argument_id": f"{session_id}/{turn_index}/{argument_index}",
            "extractor": extraction["extractor"],
            "session_id": session_id,
            "language": language,
            "turn_index": turn_index,
            "argument_index": argument_index,
            "claim": unit.claim,
            "warrant": unit.warrant,
            "evidence_or_example": unit.evidence_or_example,
            "argument_type_raw": unit.argument_type,
            "extra": _as_json(unit.extra),
        }
        for argument_index, unit in enumerate(parsed.units, start=1)
    ]


def _as_json(extra: Mapping[str, Any]) -> str | None:
    return json.dumps(extra, ensure_ascii=False, sort_keys=True) if extra else None
