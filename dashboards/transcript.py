"""The HTML of a debate: a turn with its text, and each of its arguments beside the nearest earlier one."""

from collections.abc import Mapping, Sequence
from typing import Any

from dashboards.study import Language
from dashboards.text import escape, fixed, passage, shown

PHASES = {"opening": "Opening", "rebuttal": "Rebuttal", "cross_exam": "Cross-examination", "closing": "Closing"}
ROLES = {"pro_1": "Pro first", "con_1": "Con first", "pro_2": "Pro second", "con_2": "Con second"}
NO_SIMILARITY = {
    "first_turn": "no earlier turn",
    "empty_prior_pool": "no argument in any earlier turn",
    "extraction_failed": "the extractor's answer could not be parsed",
    "extraction_missing": "the extractor's answer is missing",
    "not_measured": "not measured with this encoder and field",
}
# An archive need not say who spoke.
SAME_AGENT = {True: "same agent", False: "other agent", None: "agent unknown"}
SAME_SIDE = {True: "same side", False: "other side", None: "side unknown"}


def turn(
    record: Mapping[str, Any], arguments: Sequence[Mapping[str, Any]], language: Language, highlighted: str | None
) -> str:
    """One turn: who speaks, its similarity or the reason why there is none, its text and its arguments."""
    similarity = record["mean_arg_max_prev"]
    if similarity is None:
        reason = record["null_reason"] or "not_measured"
        measured = f"mean similarity — ({escape(NO_SIMILARITY.get(reason, reason))})"
    else:
        measured = f"mean similarity <b>{fixed(similarity)}</b>"
    side, role, phase = record["side"] or "", record["role"] or "—", record["phase"] or "—"
    # Debates without the template have no number to keep to.
    expected = "" if record["expected_sentences"] is None else f" of {shown(record['expected_sentences'])}"
    sentences = f"{shown(record['sentence_count'])}{expected} sentences"
    head = "".join(
        [
            f"<b>Turn {record['turn_index']}</b>",
            f'<span class="rp-side {escape(side)}">{escape(ROLES.get(role, role))}</span>',
            f"<span>{escape(PHASES.get(phase, phase))}</span>",
            f"<span>{escape(record['agent'] or '—')}</span>",
            f"<span>{measured}</span>",
            f'<span class="rp-muted">{escape(sentences)}</span>',
        ]
    )
    body = "".join(argument_beside_nearest(argument, language, highlighted) for argument in arguments)
    return (
        f'<section class="rp-turn"><div class="rp-turn-head">{head}</div>'
        f"{passage(record['text'], language.code, language.direction)}{body}</section>"
    )


def argument_beside_nearest(record: Mapping[str, Any], language: Language, highlighted: str | None) -> str:
    """An argument, its similarity, and the earlier argument it is nearest to."""
    here = " here" if record["argument_id"] == highlighted else ""
    if record["similarity"] is None:
        nearest = '<div class="rp-muted">no earlier argument to compare with</div>'
    else:
        relation = [
            f"turn {record['nearest_turn_index']}",
            record["nearest_agent"] or "—",
            SAME_AGENT[record["same_agent"]],
            SAME_SIDE[record["same_side"]],
        ]
        nearest = argument(
            f"nearest earlier: {', '.join(relation)}",
            record["nearest_claim"],
            record["nearest_warrant"],
            record["nearest_evidence_or_example"],
            language,
        )
    own = argument(
        f"argument {record['argument_index']}, {record['argument_type'] or 'no type'}",
        record["claim"],
        record["warrant"],
        record["evidence_or_example"],
        language,
    )
    return f'<div class="rp-pair{here}">{own}{similarity_mark(record["similarity"])}{nearest}</div>'


def argument(caption: str, claim: str | None, warrant: str | None, evidence: str | None, language: Language) -> str:
    """An argument unit under a caption, with what it has of warrant and evidence in smaller print."""
    parts = [
        f'<div class="rp-muted">{escape(caption)}</div>',
        passage(claim, language.code, language.direction),
        *(
            passage(part, language.code, language.direction, css="rp-detail")
            for part in (warrant, evidence)
            if part and part.strip()
        ),
    ]
    return f'<div class="rp-argument {language.direction}">{"".join(parts)}</div>'


def similarity_mark(similarity: float | None) -> str:
    """The number and a bar of its length; negative similarities have an empty bar."""
    width = 0 if similarity is None else round(100 * min(max(similarity, 0.0), 1.0))
    return (
        f'<div class="rp-similarity">{fixed(similarity)}'
        f'<div class="rp-bar"><span style="width:{width}%"></span></div></div>'
    )
