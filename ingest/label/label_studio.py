"""A sampling plan as Label Studio tasks, and what its annotators answered as annotations of the archive.

Tasks are blind: they hold a task id, the texts and their language, and neither ids of sessions and arguments, which
can name a condition or an agent, nor a similarity. The plan, which stays here, says which task is which.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ingest.errors import IngestError

Row = Mapping[str, Any]

CANNOT_JUDGE = "cannot judge"
LABELS = ("0 new", "1 topically related", "2 partial repetition or extension", "3 substantive repetition")
QUALITIES = ("1", "2", "3", "4", "5")
TRUTHS = ("true", "false")
AUDIT_FLAGS = ("all_major_captured", "over_split", "under_split", "hallucination", "missing_major")


def _choices(name: str, values: Iterable[str], heading: str, target: str, required: bool = True) -> str:
    options = "".join(f'\n    <Choice value="{value}"/>' for value in values)
    must = ' required="true"' if required else ""
    return (
        f'  <Header value="{heading}"/>\n'
        f'  <Choices name="{name}" toName="{target}" choice="single"{must}>{options}\n  </Choices>\n'
    )


REPETITION_CONFIG = (
    "<View>\n"
    '  <Header value="Earlier claim"/>\n  <Text name="earlier" value="$earlier_claim"/>\n'
    '  <Header value="Later claim"/>\n  <Text name="later" value="$later_claim"/>\n'
    + _choices("label", (*LABELS, CANNOT_JUDGE), "Does the later claim repeat the earlier one?", "later")
    + '  <TextArea name="note" toName="later" placeholder="Note"/>\n</View>\n'
)
"""Label Studio's labelling configuration for pairs of claims."""

EXTRACTION_CONFIG = (
    "<View>\n"
    '  <Header value="Turn"/>\n  <Text name="turn" value="$turn"/>\n'
    '  <Header value="Extracted units"/>\n  <Text name="units" value="$units"/>\n'
    + _choices("quality", (*QUALITIES, CANNOT_JUDGE), "Overall quality", "turn")
    + "".join(
        _choices(name, TRUTHS, name.replace("_", " ").capitalize(), "turn", required=False) for name in AUDIT_FLAGS
    )
    + '  <TextArea name="note" toName="turn" placeholder="Note"/>\n</View>\n'
)
"""Label Studio's labelling configuration for audited turns."""


class LabelError(IngestError):
    """Results that do not fit their plan; the message names the task, the annotator and the remedy."""


def repetition_tasks(plan: Iterable[Row], claims: Mapping[str, str]) -> list[dict[str, Any]]:
    """One task per pair of `plan`, in its order; `claims` holds the text of every argument by its id."""
    return [
        {
            "data": {
                "task_id": row["task_id"],
                "language": row["language"],
                "earlier_claim": _text(claims, row["nearest_argument_id"]),
                "later_claim": _text(claims, row["argument_id"]),
            }
        }
        for row in sorted(plan, key=lambda row: row["position"])
    ]


def extraction_tasks(
    plan: Iterable[Row], turns: Mapping[tuple[str, int], str], units: Mapping[tuple[str, int], Sequence[str]]
) -> list[dict[str, Any]]:
    """One task per turn of `plan`, in its order; `turns` and `units` hold texts by session_id and turn_index."""
    tasks = []
    for row in sorted(plan, key=lambda row: row["position"]):
        key = (row["session_id"], row["turn_index"])
        listed = "\n\n".join(f"{number}. {unit}" for number, unit in enumerate(units.get(key, ()), start=1))
        tasks.append(
            {
                "data": {
                    "task_id": row["task_id"],
                    "language": row["language"],
                    "turn": _text(turns, key),
                    "units": listed,
                }
            }
        )
    return tasks


def annotations_of_results(
    plan: Iterable[Row], results: Iterable[Mapping[str, Any]], annotators: Mapping[str, str], number: int = 1
) -> tuple[list[dict[str, Any]], int]:
    """The annotations of round `number` in a JSON export of Label Studio, and how many were not given.

    Args:
        plan: the plan that the tasks were made from, of pairs or of turns.
        results: the tasks of the export, each with its `annotations`.
        annotators: Label Studio's users (`completed_by`: a number or an e-mail address, as text) to codes.

    Skipped tasks and answers of "cannot judge" are not given: they have no row and are counted.

    Raises:
        LabelError: a task is not in the plan, a user has no code, a user labelled a task twice, or an answer is none of
            those that were offered. Nothing is returned then.
    """
    by_task = {row["task_id"]: row for row in plan}
    rows: list[dict[str, Any]] = []
    seen: set[tuple[str, str]] = set()
    not_given = 0
    for result in results:
        task_id = (result.get("data") or {}).get("task_id")
        if task_id not in by_task:
            raise LabelError(f"task {task_id!r} of the export is not in the plan; give the plan it was made from")
        for annotation in result.get("annotations") or ():
            annotator = _annotator(annotation, task_id, annotators)
            if (task_id, annotator) in seen:
                raise LabelError(f"{annotator} labelled task {task_id} twice; delete one of the two in Label Studio")
            seen.add((task_id, annotator))
            answers = _answers(annotation, task_id, annotator)
            if annotation.get("was_cancelled") or CANNOT_JUDGE in (answers.get("label"), answers.get("quality")):
                not_given += 1
                continue
            planned = by_task[task_id]
            given = _repetition if "argument_id" in planned else _extraction
            rows.append(
                given(planned, answers, f"{annotator}'s answer to task {task_id}")
                | {
                    "annotator": annotator,
                    "round": number,
                    "stratum": planned["stratum"],
                    "weight": planned["weight"],
                    "note": answers.get("note"),
                    "created_at": annotation.get("created_at"),
                }
            )
    return rows, not_given


def _repetition(planned: Row, answers: Mapping[str, str], where: str) -> dict[str, Any]:
    return {
        "task": "repetition",
        "argument_id": planned["argument_id"],
        "nearest_argument_id": planned["nearest_argument_id"],
        "label": LABELS.index(_offered(answers, "label", LABELS, where)),
    }


def _extraction(planned: Row, answers: Mapping[str, str], where: str) -> dict[str, Any]:
    flags = {
        name: _offered(answers, name, TRUTHS, where) == "true" if name in answers else None for name in AUDIT_FLAGS
    }
    return {
        "task": "extraction",
        "session_id": planned["session_id"],
        "turn_index": planned["turn_index"],
        "quality": int(_offered(answers, "quality", QUALITIES, where)),
        **flags,
    }


def _annotator(annotation: Mapping[str, Any], task_id: str, annotators: Mapping[str, str]) -> str:
    user = annotation.get("completed_by")
    name = user.get("email") or user.get("id") if isinstance(user, Mapping) else user
    if str(name) not in annotators:
        raise LabelError(f"task {task_id} was labelled by user {name!r}, who has no annotator code; add one")
    return annotators[str(name)]


def _answers(annotation: Mapping[str, Any], task_id: str, annotator: str) -> dict[str, str]:
    """The answers by the name of their control; a note of several paragraphs is one text."""
    answers: dict[str, str] = {}
    for part in annotation.get("result") or ():
        value = part.get("value") or {}
        given = value.get("choices") or value.get("text") or []
        given = [given] if isinstance(given, str) else list(given)
        if "choices" in value and len(given) > 1:
            raise LabelError(f"{annotator} chose {len(given)} answers to {part.get('from_name')} of task {task_id}")
        if given:
            answers[part["from_name"]] = "\n".join(given)
    return answers


def _offered(answers: Mapping[str, str], name: str, offered: Sequence[str], where: str) -> str:
    answer = answers.get(name)
    if answer not in offered:
        raise LabelError(f"{where} has {name} {answer!r}, which is none of {', '.join(offered)}; label it again")
    return answer


def _text(texts: Mapping[Any, str], key: Any) -> str:
    if key not in texts:
        raise LabelError(f"the plan names {key!r}, whose text is not given; draw the plan from this warehouse")
    return texts[key]
