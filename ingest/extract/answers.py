"""One call a speech, and what came back as the archive's extraction records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ingest.archive.write import write_jsonl
from ingest.extract.prompt import ExtractionPrompt, extraction_request
from ingest.extract.speeches import Speech
from ingest.run.agents import Agent
from ingest.run.call import Answer, Caller, ItemFailed, Progress


@dataclass(frozen=True)
class ExtractionReport:
    """What became of the speeches: `n_answers` written, `failed` without an answer by kind, `n_waiting` not asked.

    `halts` are the lines to tell a person: which provider stopped, why, what is missing.
    """

    n_speeches: int
    n_answers: int
    failed: Mapping[str, int] = field(default_factory=dict)
    n_waiting: int = 0
    halts: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether every speech has an answer or a reason why it has none."""
        return self.n_waiting == 0


def extract(
    speeches: Sequence[Speech],
    extractor: Agent,
    prompt: ExtractionPrompt,
    caller: Caller,
    dest: Path,
    progress: Progress | None = None,
) -> ExtractionReport:
    """Asks the extractor about each speech and writes `dest`/extractions.jsonl in the order of the speeches.

    Answers are written as they came, cut off or not: parsing them is another room's work. A speech without any answer
    has no record; the report counts it by kind. Called again after a halt it asks for what is missing and writes the
    file anew, because the caller never repeats a call that was answered.
    """
    requests = [extraction_request(prompt, speech, extractor) for speech in speeches]
    records: dict[tuple[str | int, ...], dict[str, Any]] = {}
    failed: Counter[str] = Counter()
    halts: dict[str, None] = {}
    n_waiting = 0
    for request, outcome in caller.call_all(requests, progress):
        place = (request.subject["session_id"], request.subject["turn_index"])
        if isinstance(outcome, Answer):
            records[place] = _record(request.subject, outcome)
        elif isinstance(outcome, ItemFailed):
            failed[outcome.kind] += 1
        else:
            n_waiting += 1
            halts[str(outcome)] = None
    ordered = [(speech.session_id, speech.turn_index) for speech in speeches]
    n_answers = write_jsonl(dest / "extractions.jsonl", (records[place] for place in ordered if place in records))
    return ExtractionReport(len(speeches), n_answers, dict(sorted(failed.items())), n_waiting, tuple(halts))


def _record(subject: Mapping[str, str | int], answer: Answer) -> dict[str, Any]:
    return {
        "session_id": subject["session_id"],
        "turn_index": subject["turn_index"],
        "extractor": subject["extractor"],
        "raw_response": answer.text,
        "finish_reason": answer.finish_reason,
        "created_at": answer.created_at,
    }
