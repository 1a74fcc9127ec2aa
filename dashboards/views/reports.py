"""The paper's tables: this warehouse's estimates beside the published values."""

import streamlit as st

from dashboards import controls, exhibit, published, text
from dashboards.study import load_study
from dashboards.warehouse import query

study = load_study()

reports = query("reports").records()
if not reports:
    text.note("The warehouse has no reports. Run `make demo`, or materialize your study with its reports.", "warning")
    st.stop()

comments = {record["name"]: record["comment"] for record in reports}
first, _ = st.columns([2, 3])
with first:
    name = controls.choose(
        "Table", tuple(comments), "table", show=lambda name: published.TITLES.get(name, text.label(name))
    )
if comments[name]:
    text.muted(comments[name])
answer = query("report", report=f"reports.{name}")
if not answer.rows:
    exhibit.nothing("row of this table")
else:
    records = answer.records()
    no_interval = {"interval_note": None, "interval_status": None, "n_motions": None}
    exhibit.interval_caveats([no_interval | record for record in records], study)
    st.html(
        text.table(
            published.presented(records),
            published.headings(answer.columns),
            numbers=("estimate", "interval", "n_motions", "published_value", "published_interval"),
        )
    )
    text.muted(
        "Positive = higher than English for gaps, higher than the baseline for condition effects, a narrower gap for "
        "reductions. Published values come from the paper's own 71 motions, agents and encoders: they are there to be "
        "compared, not to be reproduced by other data. An em dash: the paper prints no value, or this study has none."
    )
    exhibit.numbers(answer, f"report-{name}")
