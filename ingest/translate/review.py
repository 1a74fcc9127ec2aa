"""Translating motions, and reviewing what came of it [paper B.2]."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ingest.run.agents import Agent
from ingest.run.call import Answer, Caller, CallRequest
from ingest.translate.answers import is_flagged, read_adequacy, read_text, request_for
from ingest.translate.motions import Cell, MotionRecord, TranslationError, cells, changed
from ingest.translate.translators import Translator

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class TranslationReport:
    """What became of the cells: `n_done` of `n_cells` have what was asked for; `problems` says why others have not."""

    n_cells: int
    n_done: int
    n_flagged: int = 0
    problems: Mapping[str, str] = field(default_factory=dict)


def translate_motions(
    records: Sequence[MotionRecord],
    languages: Sequence[str],
    translator: Translator[Cell],
    source_language: str = "en",
    progress: Progress | None = None,
) -> tuple[list[MotionRecord], TranslationReport]:
    """The motions with a text in each language; texts that are there already are kept, whoever wrote them."""
    wanted = [cell for cell in cells(records, languages, source_language) if cell.text is None]
    texts: dict[tuple[str, str], str] = {}
    problems: dict[str, str] = {}
    for done, (cell, text) in enumerate(translator.translate(wanted), start=1):
        if isinstance(text, TranslationError):
            problems[cell.name] = str(text)
        else:
            texts[cell.motion_id, cell.language] = text
        if progress is not None:
            progress(done, len(wanted))
    return changed(records, texts=texts), TranslationReport(len(wanted), len(texts), problems=problems)


def review_motions(
    records: Sequence[MotionRecord],
    languages: Sequence[str],
    back_translator: Agent,
    judge: Agent,
    caller: Caller,
    source_language: str = "en",
    progress: Progress | None = None,
) -> tuple[list[MotionRecord], TranslationReport]:
    """The motions with each translation back-translated and judged; `qa` holds both.

    A cell whose answers cannot be had or read keeps the review it had, if any, and the report says why. A triage
    decision stays with a review that comes out the same, and goes with one that does not.
    """
    every = list(cells(records, languages, source_language))
    problems = {cell.name: "it has no translation" for cell in every if cell.text is None}
    translated = [cell for cell in every if cell.text is not None]
    n_calls = 2 * len(translated)
    back, unread = _ask(
        caller,
        [request_for("back_translate", back_translator, cell, source_language) for cell in translated],
        lambda answer: read_text(answer, "back_translation"),
        _part(progress, 0, n_calls),
    )
    problems |= {f"{motion_id}/{language}": f"back-translation: {why}" for (motion_id, language), why in unread.items()}
    judged, unread = _ask(
        caller,
        [
            request_for("adequacy", judge, cell, source_language, back[_place(cell)])
            for cell in translated
            if _place(cell) in back
        ],
        read_adequacy,
        _part(progress, len(translated), n_calls),
    )
    problems |= {f"{motion_id}/{language}": f"judgment: {why}" for (motion_id, language), why in unread.items()}
    before = {
        (record["motion_id"], language): (record.get("qa") or {}).get(language)
        for record in records
        for language in languages
    }
    reviews: dict[tuple[str, str], dict[str, Any] | None] = {}
    for place, judgment in judged.items():
        review = {"back_translation": back[place], **judgment}
        kept = before[place] or {}
        if kept.get("triage") is not None and all(kept.get(name) == value for name, value in review.items()):
            review["triage"] = kept["triage"]
        reviews[place] = review
    n_flagged = sum(is_flagged(review) is True for review in reviews.values())
    return changed(records, qa=reviews), TranslationReport(len(every), len(judged), n_flagged, problems)


def _ask(
    caller: Caller, requests: Sequence[CallRequest], read: Callable[[str], Any], progress: Progress | None
) -> tuple[dict[tuple[str, str], Any], dict[tuple[str, str], str]]:
    """What the answers say, by motion and language, and why others say nothing."""
    said: dict[tuple[str, str], Any] = {}
    unread: dict[tuple[str, str], str] = {}
    for request, outcome in caller.call_all(requests, progress):
        place = (str(request.subject["motion_id"]), str(request.subject["language"]))
        if not isinstance(outcome, Answer):
            unread[place] = str(outcome)
            continue
        try:
            said[place] = read(outcome.text)
        except TranslationError as problem:
            unread[place] = str(problem)
    return said, unread


def _part(progress: Progress | None, before: int, total: int) -> Progress | None:
    return None if progress is None else lambda done, _: progress(before + done, total)


def _place(cell: Cell) -> tuple[str, str]:
    return cell.motion_id, cell.language
