"""A debate as it was held, each argument beside the earlier one it is nearest to."""

from collections.abc import Callable

import streamlit as st

from dashboards import controls, exhibit, text, transcript
from dashboards.study import FIELDS, load_study
from dashboards.warehouse import query

study = load_study()

motions = {
    record["motion_id"]: record for record in query("transcript_motions", language=study.reference_language).records()
}

# The session stands in the URL, so a link opens it. A session id that this page did not write there itself came with
# a link: its motion, language and condition become the selectors' values with it.
requested = st.query_params.get("session")
if requested and requested != st.session_state.get("_shown_session"):
    linked = query("transcript_session", session=requested).first()
    if linked is None:
        text.note(f"The warehouse has no session {requested!r}; the link may come from another build.", "warning")
    else:
        for key in ("motion_id", "language", "condition", "session_id"):
            st.session_state[f"transcript_{key}"] = linked[key]


def show_motion(motion_id: str) -> str:
    motion = motions[motion_id]
    shown = text.label(motion["motion_text"], study.language(motion["language"]).direction, limit=110)
    return f"{text.label(motion_id)}  {shown}"


def pick(title: str, options: list[str], key: str, show: Callable[[str], str] = text.label) -> str:
    """One of `options`; a choice that another motion or build no longer offers falls back to the first."""
    if st.session_state.get(key) not in options:
        st.session_state.pop(key, None)
    return st.selectbox(title, options, key=key, format_func=show, persist_state="session")


motion_column, language_column, condition_column, repeat_column = st.columns([5, 2, 2, 1])
with motion_column:
    motion_id = pick("Motion", list(motions), "transcript_motion_id", show_motion)
sessions = query("transcript_sessions", motion=motion_id).records()
with language_column:
    present = {record["language"] for record in sessions}
    code = pick(
        "Language",
        [code for code in study.languages if code in present],
        "transcript_language",
        lambda code: study.language(code).name,
    )
sessions = [record for record in sessions if record["language"] == code]
with condition_column:
    present = {record["condition"] for record in sessions}
    condition = pick("Condition", [name for name in study.conditions if name in present], "transcript_condition")
repeats = {record["session_id"]: record["repeat"] for record in sessions if record["condition"] == condition}


def show_repeat(session_id: str) -> str:
    """The repeat's number, with the session's id where two sessions claim the same repeat."""
    repeat = text.shown(repeats[session_id])
    twice = list(repeats.values()).count(repeats[session_id]) > 1
    return f"{repeat}: {text.label(session_id)}" if twice else repeat


with repeat_column:
    session_id = pick("Repeat", list(repeats), "transcript_session_id", show_repeat)

encoder_column, field_column, extractor_column, _ = st.columns([2, 2, 2, 4])
with encoder_column:
    encoder = controls.choose("Encoder", study.encoders, "encoder") if study.encoders else ""
with field_column:
    field = (
        controls.choose("Field", study.fields, "field", show=lambda name: FIELDS.get(name, name))
        if study.fields
        else ""
    )
with extractor_column:
    extractor = controls.choose("Extractor", study.extractors, "extractor") if study.extractors else ""

# A link to one argument keeps marking it as long as its own session is shown.
highlighted = st.query_params.get("argument") if session_id == requested else None
if requested != session_id:
    st.query_params["session"] = session_id
    if "argument" in st.query_params:
        del st.query_params["argument"]
st.session_state["_shown_session"] = session_id

session = query("transcript_session", session=session_id).first()
language = study.language(code)
st.html(f"<h3>{text.passage(session['motion_text'], language.code, language.direction)}</h3>")
text.muted(
    f"Session {session_id}, {session['status'] or 'status unknown'}, {session['n_turns']} turns, "
    f"{session['n_arguments']} arguments{'' if session['in_analysis'] else '; outside the analysis'}. The address of "
    "this page opens this session."
)
if not study.encoders:
    text.note("No similarity is in the warehouse yet, so arguments stand without their nearest earlier one.", "warning")

turns = query("transcript_turns", session=session_id, extractor=extractor, encoder=encoder, field=field)
arguments = query("transcript_arguments", session=session_id, extractor=extractor, encoder=encoder, field=field)
by_turn: dict[int, list] = {}
for record in arguments.records():
    by_turn.setdefault(record["turn_index"], []).append(record)
for record in turns.records():
    st.html(transcript.turn(record, by_turn.get(record["turn_index"], []), language, highlighted))

text.muted(
    "Below each turn: its arguments (left), the cosine similarity to the nearest argument of any earlier turn of the "
    "same session, and that argument (right). Similarity alone does not tell repetition from rebuttal or refinement."
)
exhibit.numbers(turns, "turns")
exhibit.numbers(arguments, "arguments")
