"""`reprise label FOLDER`: one task at a time, to annotators who see neither the measure nor each other.

`streamlit run dashboards/labelling/app.py -- FOLDER [adjudicate]`.
"""

import hmac
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import streamlit as st

from dashboards import text
from ingest.label import (
    AUDIT_FLAGS,
    CANNOT_JUDGE,
    CODEBOOKS,
    LABELS,
    QUALITIES,
    TRUTHS,
    Given,
    LabelError,
    LabelStore,
    disagreements,
    unfinished,
)

PASSWORD = "REPRISE_LABEL_PASSWORD"
KINDS = {"pair": "Repetition: pairs of claims", "turn": "Extraction: turns and their units"}
# The control that decides, what it offers, and the key of each answer.
ANSWERS = {
    "pair": ("label", {label: label[0] for label in LABELS} | {CANNOT_JUDGE: "X"}),
    "turn": ("quality", {quality: quality for quality in QUALITIES} | {CANNOT_JUDGE: "X"}),
}
CODE = re.compile(r"[A-Za-z0-9_-]{1,32}")
ROUND_ALONE, ROUND_SETTLED = 1, 2

st.set_page_config(page_title="Labelling", page_icon=str(Path(__file__).parents[1] / "icon.svg"), layout="wide")
st.html(text.STYLE)
folder, adjudicates = Path(sys.argv[1]), sys.argv[2:] == ["adjudicate"]


def admitted() -> bool:
    """Whether the person has given the password, where one is asked for."""
    wanted = os.environ.get(PASSWORD)
    if not wanted or st.session_state.get("admitted"):
        return True
    given = st.text_input("Password", type="password")
    if given and hmac.compare_digest(given.encode(), wanted.encode()):
        st.session_state["admitted"] = True
        st.rerun()
    if given:
        text.note("That is not the password.", "warning")
    return False


def tasks_of(kind: str) -> dict[str, dict[str, Any]]:
    """The blind tasks of a kind by their id, in the plan's order."""
    file = folder / f"{kind}_tasks.json"
    tasks = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []
    return {task["data"]["task_id"]: task["data"] for task in tasks}


def keep(store: LabelStore, kind: str, task: str, annotator: str, answer: str, number: int) -> None:
    """Keeps an answer with its flags and note, and empties them for the next task."""
    control, _ = ANSWERS[kind]
    given = {control: answer}
    for flag in AUDIT_FLAGS if kind == "turn" else ():
        if chosen := st.session_state.pop(f"{flag}-{task}", None):
            given[flag] = chosen
    if note := st.session_state.pop(f"note-{task}", "").strip():
        given["note"] = note
    store.give(task, annotator, given, number)


def take_back(store: LabelStore, annotator: str, tasks: list[str], number: int) -> None:
    """Takes the last answer back and shows its task again."""
    st.session_state["again"] = store.undo(annotator, tasks, number)


def show(kind: str, task: dict[str, Any]) -> None:
    """The texts of a task, in their own script and direction."""
    language = task.get("language") or "und"
    parts = (
        (("Earlier claim", "earlier_claim"), ("Later claim", "later_claim"))
        if kind == "pair"
        else (("Turn", "turn"), ("Extracted units", "units"))
    )
    for column, (title, name) in zip(st.columns(2, gap="large"), parts, strict=True):
        with column:
            text.heading(title)
            st.html(text.passage(task[name], language, "auto", css="rp-label"))


def show_others(given: list[Given], control: str) -> None:
    """What was answered alone, without saying by whom."""
    rows = [
        {"who": chr(ord("A") + place), "answer": one.answer.get(control), "note": one.answer.get("note")}
        for place, one in enumerate(sorted(given, key=lambda one: (one.answer.get(control) or "", one.created_at)))
    ]
    st.html(text.table(rows, {"who": "", "answer": "Labelled alone", "note": "Note"}))


def label(store: LabelStore, annotator: str) -> None:
    """The next task of the annotator, or that there is none."""
    present = {kind: tasks for kind in KINDS if (tasks := tasks_of(kind))}
    if not present:
        text.note(f"{folder} holds no tasks. Draw an audit first: `reprise draw-audit`.", "problem")
        return
    kind = st.sidebar.radio("Task", list(present), format_func=KINDS.__getitem__, bind="query-params", key="task")
    tasks, (control, offered) = present[kind], ANSWERS[kind]
    number = ROUND_SETTLED if adjudicates else ROUND_ALONE
    alone: list[Given] = []
    if adjudicates:
        alone = store.all(ROUND_ALONE)
        left = unfinished(alone, tasks)
        if left:
            told = ", ".join(f"{name} has {count} left" for name, count in left.items())
            text.note(f"Labels are shown when everybody who began is done: {told}.", "warning")
            return
        tasks = {task: tasks[task] for task in disagreements(alone, tasks, control)}
        if not tasks:
            text.note("No two annotators differ here: there is nothing to settle.")
            return
    mine = store.of(annotator, number)
    done = [task for task in tasks if task in mine]
    st.progress(len(done) / len(tasks), text=f"{len(done)} of {len(tasks)} done")
    with st.sidebar:
        st.markdown(CODEBOOKS[kind].read_text(encoding="utf-8"))
    again = st.session_state.get("again")
    waiting = [task for task in tasks if task not in mine]
    task = again if again in waiting else next(iter(waiting), None)
    if task is None:
        text.note("All done. Thank you.")
    else:
        show(kind, tasks[task])
        if adjudicates:
            show_others([one for one in alone if one.task_id == task], control)
        if kind == "turn":
            for column, flag in zip(st.columns(len(AUDIT_FLAGS)), AUDIT_FLAGS, strict=True):
                with column:
                    st.segmented_control(flag.replace("_", " ").capitalize(), TRUTHS, key=f"{flag}-{task}")
        st.text_input("Note", key=f"note-{task}", placeholder="optional; give it before the label")
        for column, (answer, key) in zip(st.columns(len(offered)), offered.items(), strict=True):
            with column:
                st.button(
                    answer[2:].capitalize() if kind == "pair" and answer != CANNOT_JUDGE else answer.capitalize(),
                    key=f"answer-{key}",
                    shortcut=key,
                    width="stretch",
                    wrap=True,
                    on_click=keep,
                    args=(store, kind, task, annotator, answer, number),
                )
    if done:
        st.button(
            "Undo", shortcut="U", type="tertiary", on_click=take_back, args=(store, annotator, list(tasks), number)
        )


def main() -> None:
    """Asks who labels, then labels."""
    st.title("Settling disagreements" if adjudicates else "Labelling")
    if not admitted():
        return
    annotator = st.sidebar.text_input(
        "Your code", key="annotator", bind="query-params", help="Letters, digits, - and _; never your name."
    )
    if not annotator:
        text.note("Enter your code on the left. It is what your labels are kept under.")
    elif not CODE.fullmatch(annotator):
        text.note("A code has up to 32 letters, digits, - and _.", "warning")
    else:
        label(LabelStore(folder), annotator)


try:
    main()
except LabelError as problem:
    text.note(f"{problem}.", "problem")
