"""Who repeats, and what: by agent, by any grouping of the study, the arguments and turns that come back."""

import streamlit as st

from dashboards import controls, exhibit, text
from dashboards.study import load_study
from dashboards.warehouse import query

study = load_study()
columns = iter(st.columns(6))
encoder = study.encoders[0] if study.encoders else ""
if len(study.encoders) > 1:
    with next(columns):
        encoder = controls.choose("Encoder", study.encoders, "encoder")
chosen = controls.measure_selection(study, columns, aggregate=False)
measure = {"extractor": chosen.extractor, "field": chosen.field}

text.heading("A. By agent")
agents = query("repetition_agents", condition=chosen.condition, variant=chosen.variant, **measure)
if not agents.records():
    exhibit.nothing("agent with a similarity")
else:
    st.html(
        text.table(
            [{**record, "similarity": text.fixed(record["similarity"])} for record in agents.records()],
            {"encoder": "Encoder", "agent": "Agent", "similarity": "Mean similarity", "n_sessions": "Debates"},
            numbers=("similarity", "n_sessions"),
        )
    )
    text.muted("Mean over debates of an agent's mean similarity to the nearest earlier argument of anybody.")
    exhibit.numbers(agents, "repetition-by-agent")

text.heading("B. By grouping")
gaps = query("group_gaps", variant=chosen.variant, **measure)
if not gaps.records():
    text.note(
        "The study compares no groups. Name attributes under `groupings` in the study file: agent, model_id, side, "
        "speaking_order, or an attribute that was imported with the debates."
    )
else:
    st.html(
        text.table(
            [
                {
                    **record,
                    "group_mean": text.fixed(record["group_mean"]),
                    "reference_mean": text.fixed(record["reference_mean"]),
                    "estimate": text.signed(record["estimate"]),
                    "interval": text.interval(record["ci_low"], record["ci_high"], record["interval_note"]),
                }
                for record in gaps.records()
            ],
            {
                "attribute": "Grouping",
                "value": "Group",
                "reference_value": "Reference",
                "encoder": "Encoder",
                "group_mean": "Group mean",
                "reference_mean": "Reference mean",
                "estimate": "Difference",
                "interval": study.interval_name,
                "n_clusters": "Clusters",
                "cluster": "Cluster",
            },
            numbers=("group_mean", "reference_mean", "estimate", "interval", "n_clusters"),
        )
    )
    for note in sorted({record["interval_note"] for record in gaps.records() if record["interval_note"]}):
        text.note(note, "warning")
    exhibit.numbers(gaps, "group-gaps")

text.heading("C. Arguments that come back most")
repeated = query("repeated_arguments", condition=chosen.condition, encoder=encoder, **measure)
if not repeated.records():
    exhibit.nothing("pair of arguments")
else:
    st.html(
        text.table(
            [{**record, "similarity": text.fixed(record["similarity"])} for record in repeated.records()],
            {
                "claim": "Argument",
                "n_later": "Later arguments",
                "similarity": "Mean similarity",
                "agent": "Agent",
                "session_id": "Debate",
                "turn_index": "Turn",
            },
            numbers=("n_later", "similarity", "turn_index"),
        )
    )
    text.muted(
        "Later arguments whose nearest earlier argument is this one, with a similarity in the upper tenth of all. The "
        "Pair explorer shows them side by side."
    )
    exhibit.numbers(repeated, "repeated-arguments")

text.heading("D. Turns said again word for word")
turns = query("repeated_turns", condition=chosen.condition)
records = turns.records()
if not records:
    text.muted("No turn says the same as an earlier turn of its debate.")
else:
    st.html(
        text.table(
            records,
            {
                "session_id": "Debate",
                "turn_index": "Turn",
                "first_turn_index": "Said first in turn",
                "agent": "Agent",
                "text_start": "Text",
            },
            numbers=("turn_index", "first_turn_index"),
        )
    )
    text.muted(f"{records[0]['n_turns']:,} turns in all; they are kept, and count as repetition.")
    exhibit.numbers(turns, "repeated-turns")
