"""What the warehouse holds, how fresh it is, and what was left out and why."""

import streamlit as st

from dashboards import exhibit, text
from dashboards.warehouse import query

NULL_REASONS = {
    None: "has a similarity",
    "first_turn": "no earlier turn to return to (turn 1)",
    "empty_prior_pool": "no argument in any earlier turn",
    "extraction_failed": "the extractor's answer could not be parsed",
    "extraction_missing": "the extractor was never asked, or its answer is missing",
}

counts = query("overview_counts")
held = counts.first()
for column, (title, key) in zip(
    st.columns(7),
    {
        "Motions": "motions",
        "Sessions": "sessions",
        "Turns": "turns",
        "Arguments": "arguments",
        "Max-prior pairs": "pairs",
        "Extraction failures": "extraction_failures",
        "Rejected records": "rejects",
    }.items(),
    strict=True,
):
    column.metric(title, text.shown(held[key]))
text.muted(
    "A session is one debate: motion × language × condition × repeat. An argument is one claim that an extractor took "
    "from a turn. A pair is an argument with its nearest earlier argument, once for each encoder and field."
)
exhibit.numbers(counts, "overview-counts")

st.subheader("Sessions by language and condition")
sessions = query("overview_sessions")
if sessions.rows:
    st.html(
        text.table(
            [
                {
                    **record,
                    "arguments_per_turn": text.fixed(record["arguments_per_turn"], 2),
                    "length": f"{text.fixed(record['mean_text_length'], 1)} {record['length_unit'] or ''}",
                }
                for record in sessions.records()
            ],
            {
                "language": "Language",
                "condition": "Condition",
                "motions": "Motions",
                "sessions": "Sessions",
                "complete": "Complete",
                "in_analysis": "In the analysis",
                "turns": "Turns",
                "arguments": "Arguments",
                "arguments_per_turn": "Arguments per turn",
                "length": "Mean length of a turn",
            },
            numbers=(
                "motions",
                "sessions",
                "complete",
                "in_analysis",
                "turns",
                "arguments",
                "arguments_per_turn",
                "length",
            ),
        )
    )
    text.muted(
        "Length counts white-space tokens, and non-white-space characters in Chinese. Arguments per turn leaves out "
        "turns whose extraction failed."
    )
else:
    text.note("No session is loaded.")
exhibit.numbers(sessions, "sessions-by-cell")

left, right = st.columns(2, gap="large")
with left:
    st.subheader("Turns without a similarity")
    reasons = query("overview_null_reasons")
    if reasons.rows:
        st.html(
            text.table(
                [
                    {**record, "meaning": NULL_REASONS.get(record["null_reason"], record["null_reason"])}
                    for record in reasons.records()
                ],
                {"extractor": "Extractor", "null_reason": "Reason", "meaning": "Meaning", "turns": "Turns"},
                numbers=("turns",),
            )
        )
    else:
        text.note("No turn has been measured.")
    exhibit.numbers(reasons, "null-reasons")

    st.subheader("Encoders")
    encoders = query("overview_encoders")
    if encoders.rows:
        st.html(
            text.table(
                encoders.records(),
                {
                    "encoder": "Encoder",
                    "backend": "Backend",
                    "device": "Device",
                    "dimension": "Dimension",
                    "max_length": "Max. length",
                    "n_texts": "Texts",
                    "n_over_max_length": "Over max. length",
                },
                numbers=("dimension", "max_length", "n_texts", "n_over_max_length"),
            )
        )
    else:
        text.note("No encoder has run.")
    exhibit.numbers(encoders, "encoders")

with right:
    st.subheader("What failed or was left out")
    exclusions = query("overview_exclusions")
    if exclusions.rows:
        st.html(
            text.table(
                exclusions.records(),
                {"status": "Outside the analysis: status", "n_turns": "Turns delivered", "sessions": "Sessions"},
                numbers=("n_turns", "sessions"),
            )
        )
        exhibit.numbers(exclusions, "exclusions")
    else:
        text.note("No session is left out of the analysis.")

    failures = query("overview_extraction_failures")
    if failures.rows:
        st.html(
            text.table(
                failures.records(),
                {"extractor": "Extractor", "reason": "Answer not parsed", "language": "Language", "turns": "Turns"},
                numbers=("turns",),
            )
        )
        with st.expander("The turns, with the start of each answer"):
            failed = query("overview_failed_turns")
            st.html(
                text.table(
                    failed.records(),
                    {
                        "session_id": "Session",
                        "turn_index": "Turn",
                        "extractor": "Extractor",
                        "reason": "Reason",
                        "raw_response_start": "Answer begins",
                    },
                )
            )
            text.muted("At most 200 turns; `marts.extraction_failures` has all of them, with the whole answer.")
        exhibit.numbers(failures, "extraction-failures")
    else:
        text.note("Every extractor's answer was parsed.")

    rejects = query("overview_rejects")
    if rejects.rows:
        st.html(
            text.table(
                rejects.records(),
                {
                    "table_name": "Rejected records of",
                    "reason": "Reason",
                    "example": "For example",
                    "records": "Records",
                },
                numbers=("records",),
            )
        )
        with st.expander("The records, with file and line"):
            st.html(
                text.table(
                    query("overview_rejected_records").records(),
                    {
                        "file": "File",
                        "line": "Line",
                        "record_id": "Record",
                        "reason": "Reason",
                        "detail": "Detail",
                        "raw_line_start": "Line begins",
                    },
                    numbers=("line",),
                )
            )
            text.muted("At most 200 records; `marts.rejects` has all of them.")
        exhibit.numbers(rejects, "rejects")
    else:
        text.note("No record of the archive was rejected.")


def setting(key: str, value: object) -> object:
    """A setting's text; where the study names nothing, it takes all that the archive has."""
    if isinstance(value, list):
        return ", ".join(value)
    return (
        "all in the archive" if value is None and key in ("languages", "conditions", "extractors", "agents") else value
    )


st.subheader("Study and build")
for column, answer in zip(st.columns(2, gap="large"), (query("study"), query("build")), strict=True):
    with column:
        settings = answer.first() or {}
        if settings:
            st.html(
                text.table(
                    [
                        {"setting": key.replace("_", " "), "value": setting(key, value)}
                        for key, value in settings.items()
                    ],
                    {"setting": "Setting", "value": "Value"},
                )
            )
        else:
            text.note("The warehouse does not say what it was built for.")
        exhibit.numbers(answer, answer.name)
