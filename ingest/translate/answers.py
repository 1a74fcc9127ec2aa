"""What models are asked about translations [paper B.2, E.4], and how their answers are read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ingest.parse.answer import UnreadableAnswer, answer_value
from ingest.reference import languages
from ingest.run.agents import Agent
from ingest.run.answer_schema import object_schema, output_limit, schema_for
from ingest.run.call import CallRequest, Stage
from ingest.run.templates import check_placeholders, fill, read_template
from ingest.translate.motions import Cell, TranslationError
from ingest.translate.passages import Passage

PROMPTS = Path(__file__).with_name("prompts")

PRESERVES = (
    "preserves_actor",
    "preserves_policy_action",
    "preserves_stance_or_burden",
    "preserves_scope",
    "preserves_key_terms",
)
NO_ISSUE = "none"
ISSUE_TYPES = (NO_ISSUE, "actor", "policy_action", "stance_burden", "scope", "key_terms", "other")
SCORES = range(1, 6)

_PLACEHOLDERS = {
    "translate": ("source_language", "target_language", "source_text"),
    "translate_speech": ("source_language", "target_language", "source_text"),
    "back_translate": ("source_language", "target_text"),
    "adequacy": ("source_language", "target_language", "source_text", "target_text", "back_translation"),
}
# Decoding beside the agent's own: a back-translator has its provider's defaults, a judge is at temperature 0.
_TEMPERATURE: dict[str, dict[str, float]] = {
    "translate": {},
    "translate_speech": {},
    "back_translate": {},
    "adequacy": {"temperature": 0},
}
# A speech of five sentences under 50 words takes up to about 1,200 tokens in the scripts that take most.
_MAX_TOKENS = {"translate": 400, "translate_speech": 3000, "back_translate": 400, "adequacy": 700}
_SCHEMAS = {
    "translate": object_schema({"translation": {"type": "string"}}),
    "translate_speech": object_schema({"translation": {"type": "string"}}),
    "back_translate": object_schema({"back_translation": {"type": "string"}}),
    "adequacy": object_schema(
        {
            "adequacy_score": {"type": "integer", "minimum": min(SCORES), "maximum": max(SCORES)},
            **{name: {"type": "boolean"} for name in PRESERVES},
            "issue_type": {"type": "string", "enum": list(ISSUE_TYPES)},
            "brief_reason": {"type": "string"},
        }
    ),
}
_STAGES: dict[str, Stage] = {
    "translate": "translation",
    "translate_speech": "translation",
    "back_translate": "back_translation",
    "adequacy": "adequacy",
}
_NAMES = {language.language: language.name for language in languages()}


def request_for(
    task: str, agent: Agent, wanted: Cell | Passage, source_language: str, back_translation: str = ""
) -> CallRequest:
    """The call for a task (translate, back_translate, adequacy) on a cell, or translate_speech on a passage.

    Each prompt holds what its task may see and no more: a back-translator sees the translation alone. Raises
    TemplateError for a prompt file that cannot be used, TranslationError for a language without a name.
    """
    template = read_template(PROMPTS / f"{task}.txt")
    check_placeholders(str(PROMPTS / f"{task}.txt"), template, _PLACEHOLDERS[task])
    values = {
        "source_language": _name(source_language),
        "target_language": _name(wanted.language),
        "source_text": wanted.source_text,
        "target_text": (isinstance(wanted, Cell) and wanted.text) or "",
        "back_translation": back_translation,
    }
    return CallRequest(
        agent=agent,
        messages=({"role": "user", "content": fill(template, values)},),
        stage=_STAGES[task],
        parameters=_TEMPERATURE[task] | output_limit(agent, _MAX_TOKENS[task]),
        response_schema=schema_for(agent, _SCHEMAS[task]),
        subject=wanted.subject,
    )


def read_text(answer: str, field: str) -> str:
    """The text that an answer gives in a field. Raises TranslationError, saying what is wrong with the answer."""
    text = _object(answer).get(field)
    if not isinstance(text, str) or not text.strip():
        raise TranslationError(f"the answer has no text in {field!r}")
    return text.strip()


def read_adequacy(answer: str) -> dict[str, Any]:
    """The judge's fields, each of its type and range. Raises TranslationError, saying what is wrong with the answer."""
    given = _object(answer)
    score = given.get("adequacy_score")
    if isinstance(score, bool) or not isinstance(score, int) or score not in SCORES:
        raise TranslationError(f"adequacy_score is {score!r} and not a whole number from 1 to 5")
    for name in PRESERVES:
        if not isinstance(given.get(name), bool):
            raise TranslationError(f"{name} is {given.get(name)!r} and not true or false")
    issue = given.get("issue_type")
    if issue not in ISSUE_TYPES:
        raise TranslationError(f"issue_type is {issue!r} and not one of {', '.join(ISSUE_TYPES)}")
    reason = given.get("brief_reason")
    return {
        "adequacy_score": score,
        **{name: given[name] for name in PRESERVES},
        "issue_type": issue,
        "brief_reason": reason if isinstance(reason, str) else None,
    }


def is_flagged(review: Mapping[str, Any] | None) -> bool | None:
    """Whether a review meets the flag rule [paper B.2]; None when there is no review.

    Score of 3 or less, any preservation field false, or an issue type other than none; what a review does not say flags
    nothing. The mart `motions` states the same rule in SQL.
    """
    review = review or {}
    score, issue = review.get("adequacy_score"), review.get("issue_type")
    preserved = [review.get(name) for name in PRESERVES]
    if score is None and issue is None and all(value is None for value in preserved):
        return None
    has_issue = issue is not None and issue.strip().lower() != NO_ISSUE
    return (score is not None and score <= 3) or False in preserved or has_issue


def _object(answer: str) -> dict[str, Any]:
    try:
        value = answer_value(answer, set())
    except UnreadableAnswer as error:
        raise TranslationError(f"the answer is no JSON object ({error.reason})") from error
    if not isinstance(value, dict):
        raise TranslationError("the answer is no JSON object (not_an_object)")
    return value


def _name(language: str) -> str:
    if language not in _NAMES:
        raise TranslationError(f"The language {language!r} has no name. Add it to ingest/reference/languages.csv.")
    return _NAMES[language]
