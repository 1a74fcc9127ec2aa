"""Judges asked through the run layer, and what came back as the archive's judgment records [paper F.8, F.10, G.1]."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ingest.archive.write import write_jsonl
from ingest.judge.answers import DIMENSIONS, FUNCTIONS, LABEL_RANGE, SCORE_RANGE, Instrument
from ingest.judge.blinding import blinding_faults
from ingest.run.agents import Agent
from ingest.run.answer_schema import object_schema, output_limit, schema_for
from ingest.run.call import Answer, Caller, CallRequest, ItemFailed, Progress
from ingest.run.templates import check_placeholders, fill, read_template

PROMPTS = Path(__file__).with_name("prompts")
PairInstrument = Literal["pair_judge", "function"]

_TEXT = {"type": "string"}
_SCHEMAS = {
    "pair_judge": object_schema(
        {"label": {"type": "integer", "enum": [*range(LABEL_RANGE[0], LABEL_RANGE[1] + 1)]}, "reason": _TEXT}
    ),
    "function": object_schema({"function": {"type": "string", "enum": list(FUNCTIONS)}, "reason": _TEXT}),
    "outcome": object_schema(
        {name: {"type": "integer", "minimum": SCORE_RANGE[0], "maximum": SCORE_RANGE[1]} for name in DIMENSIONS}
        | {"brief_rationale": _TEXT}
    ),
}
_PLACEHOLDERS = {
    "pair_judge": ("mark", "earlier_claim", "later_claim"),
    "function": ("mark", "earlier_claim", "later_claim"),
    "outcome": ("mark", "extent", "motion_text", "debate"),
}
_MAX_TOKENS = {"pair_judge": 400, "function": 400, "outcome": 1000}


@dataclass(frozen=True)
class Pair:
    """A claim and the earlier one nearest to it."""

    argument_id: str
    nearest_argument_id: str
    earlier_claim: str
    later_claim: str


@dataclass(frozen=True)
class Transcript:
    """A whole debate: its motion, and its turns in order, each under the label of its role."""

    session_id: str
    motion_text: str
    turns: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class JudgingReport:
    """What became of the items.

    `n_answers` were written, `refused` were never sent (and why), `failed` have no answer (by kind), `n_waiting` were
    not asked about. `halts` are the lines to tell a person.
    """

    n_items: int
    n_answers: int
    refused: Mapping[str, str] = field(default_factory=dict)
    failed: Mapping[str, int] = field(default_factory=dict)
    n_waiting: int = 0
    halts: tuple[str, ...] = ()


def judge_pairs(
    pairs: Sequence[Pair],
    instrument: PairInstrument,
    judge: Agent,
    number: int,
    caller: Caller,
    dest: Path,
    progress: Progress | None = None,
) -> JudgingReport:
    """Asks the judge about each pair (the codebook and the two claims, nothing else); writes `dest`/judgments.jsonl.

    Raw answers are kept as they came: reading them is another step's work. `number` is the round; another round asks
    anew and is rows of its own. Called again after a halt it asks for what is missing.
    """
    requests = [
        _request(
            instrument,
            judge,
            number,
            {"earlier_claim": pair.earlier_claim, "later_claim": pair.later_claim},
            {"argument_id": pair.argument_id, "nearest_argument_id": pair.nearest_argument_id},
        )
        for pair in pairs
    ]
    return _ask(requests, instrument, judge, number, caller, dest, {}, progress)


def judge_outcomes(
    transcripts: Sequence[Transcript],
    judge: Agent,
    number: int,
    caller: Caller,
    dest: Path,
    *,
    names: Collection[str],
    conditions: Collection[str] = (),
    n_turns: int | None = None,
    progress: Progress | None = None,
) -> JudgingReport:
    """Asks the judge about each debate: its motion and its role-labelled turns, nothing else. Writes judgments.jsonl.

    Before anything is sent, each prompt is searched for what would unblind the judge (`blinding_faults` with `names`
    and `conditions`). A debate whose prompt holds any of it is refused: it is not asked about, and the report says why.
    With `n_turns` the judge is shown the first turns alone, and told so; such scores are rows of their own [paper G.4].
    """
    requests, refused = [], {}
    extent = "a whole debate" if n_turns is None else f"the first {n_turns} turns of a debate"
    for transcript in transcripts:
        turns = transcript.turns[:n_turns]
        texts = {"the motion": transcript.motion_text} | {
            f"turn {place}": f"{role} {text}" for place, (role, text) in enumerate(turns, start=1)
        }
        if faults := blinding_faults(texts, names, conditions):
            refused[transcript.session_id] = "; ".join(map(str, faults[:3]))
            continue
        debate = "\n\n".join(f"{role}:\n{text}" for role, text in turns)
        requests.append(
            _request(
                "outcome",
                judge,
                number,
                {"motion_text": transcript.motion_text, "debate": debate, "extent": extent},
                {"session_id": transcript.session_id} | ({} if n_turns is None else {"n_turns": n_turns}),
            )
        )
    return _ask(requests, "outcome", judge, number, caller, dest, refused, progress)


def _request(
    instrument: Instrument, judge: Agent, number: int, texts: Mapping[str, str], subject: Mapping[str, str | int]
) -> CallRequest:
    template = read_template(PROMPTS / f"{instrument}.txt")
    check_placeholders(str(PROMPTS / f"{instrument}.txt"), template, _PLACEHOLDERS[instrument])
    return CallRequest(
        agent=judge,
        messages=({"role": "user", "content": fill(template, {**texts, "mark": _mark(texts)})},),
        stage="judge",
        parameters={"temperature": 0} | output_limit(judge, _MAX_TOKENS[instrument]),
        response_schema=schema_for(judge, _SCHEMAS[instrument]),
        repeat=number,
        subject=dict(subject),
        is_parsed=True,
    )


def _mark(texts: Mapping[str, str]) -> str:
    """What fences the material: it follows from the texts, and no text can hold the mark of itself."""
    content = "\0".join(texts.values())
    mark = f"==== {hashlib.sha256(content.encode()).hexdigest()[:16]} ===="
    assert mark not in content
    return mark


def _ask(
    requests: Sequence[CallRequest],
    instrument: Instrument,
    judge: Agent,
    number: int,
    caller: Caller,
    dest: Path,
    refused: Mapping[str, str],
    progress: Progress | None,
) -> JudgingReport:
    records: dict[tuple[str | int, ...], dict[str, Any]] = {}
    failed: Counter[str] = Counter()
    halts: dict[str, None] = {}
    n_waiting = 0
    for request, outcome in caller.call_all(requests, progress):
        if isinstance(outcome, Answer):
            records[tuple(request.subject.values())] = {
                "instrument": instrument,
                "judge": judge.name,
                "round": number,
                **request.subject,
                "raw_response": outcome.text,
                "created_at": outcome.created_at,
            }
        elif isinstance(outcome, ItemFailed):
            failed[outcome.kind] += 1
        else:
            n_waiting += 1
            halts[str(outcome)] = None
    ordered = [tuple(request.subject.values()) for request in requests]
    n_answers = write_jsonl(dest / "judgments.jsonl", (records[place] for place in ordered if place in records))
    return JudgingReport(
        len(requests) + len(refused), n_answers, dict(refused), dict(sorted(failed.items())), n_waiting, tuple(halts)
    )
