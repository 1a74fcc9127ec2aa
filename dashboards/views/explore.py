"""One contrast at a time: its estimates by language, and the paired difference of every motion behind them."""

import streamlit as st

from dashboards import charts, controls, exhibit, text
from dashboards.study import AGGREGATES, FIELDS, load_study, ordered
from dashboards.warehouse import query

PANELS_PER_ROW = 3
# Name and meaning of each contrast; one that is not here is offered under the name that the warehouse gives it.
CONTRASTS = {
    "language_gap": (
        "language gap",
        "Positive = higher prior-argument similarity than in the reference language, on the same motion.",
    ),
    "agent_gap": (
        "language gap within an agent",
        "The language gap over the scoreable turns of one agent. Positive = higher than in the reference language.",
    ),
    "agent_contrast": (
        "difference of two agents' gaps",
        "Within motion, the first agent's language gap minus the second's. Positive = the first agent has the larger.",
    ),
    "condition_effect": (
        "condition effect",
        "Within language and motion, the condition minus the baseline. Positive = higher similarity under the "
        "condition.",
    ),
    "gap_reduction": (
        "gap reduction",
        "The language gap under the baseline minus the gap under the condition. Positive = the gap narrows.",
    ),
    "condition_change": (
        "change of the gap",
        "The language gap under the condition minus the gap under the baseline. Positive = the gap widens.",
    ),
}

study = load_study()
offered = query("contrasts").column("contrast")
if not offered:
    text.note(
        "The warehouse holds no contrast: it takes a second language or a second condition on the same motions. Add "
        "such sessions to the archive and materialize the study again."
    )
    st.stop()

upper = st.columns([2, 3, 2, 2])
with upper[0]:
    contrast = controls.choose(
        "Contrast",
        ordered(offered, CONTRASTS),
        "contrast",
        show=lambda name: CONTRASTS.get(name, (text.label(name),))[0],
    )
choices = query("contrast_choices", contrast=contrast).records()
present = ordered((record["language"] for record in choices), study.languages)
conditions = ordered((record["condition"] for record in choices), study.conditions)
aggregates = ordered((record["aggregate"] for record in choices), AGGREGATES)
# One agent for a gap, two for a contrast of agents, none for what concerns the whole session.
agents = {
    f" {text.MINUS} ".join(text.label(name) for name in pair if name is not None): pair
    for pair in sorted(
        {(record["agent"], record["reference_agent"]) for record in choices if record["agent"] is not None},
        key=str,
    )
}
with upper[1]:
    languages = st.multiselect(
        "Languages",
        present,
        default=present,
        key=f"{contrast}_languages",
        format_func=lambda code: study.language(code).name,
        bind="query-params",
    )
with upper[2]:
    encoder = controls.choose("Encoder", study.encoders, "encoder")
with upper[3]:
    condition = controls.choose("Condition", conditions, "condition", default=study.baseline_condition)
lower = st.columns(5)
with lower[0]:
    field = controls.choose("Field that is embedded", study.fields, "field", show=lambda name: FIELDS.get(name, name))
with lower[1]:
    variant = controls.choose("Variant", study.variants, "variant")
with lower[2]:
    aggregate = controls.choose(
        "Aggregate", aggregates, "aggregate", show=lambda name: AGGREGATES.get(name, text.label(name))
    )
with lower[3]:
    agent, reference_agent = (
        agents[controls.choose("Agent", tuple(agents), "agent", show=str)] if agents else (None, None)
    )
with lower[4]:
    extractor = controls.choose("Extractor", study.extractors, "extractor")
if not languages:
    text.note("Choose at least one language.")
    st.stop()

chosen = {
    "contrast": contrast,
    "languages": sorted(languages),
    "condition": condition,
    "agent": agent,
    "reference_agent": reference_agent,
    "extractor": extractor,
    "encoder": encoder,
    "field": field,
    "variant": variant,
    "aggregate": aggregate,
}
answer = query("contrast_estimates", **chosen)
if not answer.rows:
    exhibit.nothing("estimate")
    st.stop()

places = {code: place for place, code in enumerate(present)}
records = sorted(
    ({**record, "name": study.language(record["language"]).name} for record in answer.records()),
    key=lambda record: places[record["language"]],
)
title, meaning = CONTRASTS.get(contrast, (contrast, ""))
exhibit.interval_caveats(records, study)
figure, table = st.columns([2, 3], gap="large")
with figure:
    st.altair_chart(
        charts.forest(
            records,
            order=[record["name"] for record in records],
            colours=charts.encoder_colours(study.encoders),
            axis=charts.domain(records),
            title=title[:1].upper() + title[1:] if contrast in CONTRASTS else text.label(title),
        ),
        width="stretch",
        key="contrast-forest",
        alt="Estimates of the contrast with their intervals, one row a language",
    )
with table:
    st.html(
        text.table(
            [
                {
                    "name": record["name"],
                    "estimate": text.signed(record["estimate"]),
                    "interval": text.interval(record["ci_low"], record["ci_high"]),
                    "excludes": record["ci_excludes_zero"],
                    "n_motions": record["n_motions"],
                    "interval_note": record["interval_note"],
                }
                for record in records
            ],
            {
                "name": "Language",
                "estimate": "Estimate",
                "interval": study.interval_name,
                "excludes": "Excludes zero",
                "n_motions": "Motions",
                "interval_note": "Note on the interval",
            },
            numbers=("estimate", "interval", "n_motions"),
        )
    )
compared = " against ".join(
    dict.fromkeys([condition, *(record["reference_condition"] or condition for record in records)])
)
text.muted(
    f"{meaning} Condition: {compared}. Estimates are means over motions; bars are the {study.interval_name}, "
    "percentile bootstrap over motions. A filled point: the interval excludes zero."
)
exhibit.numbers(answer, "contrast-estimates")

st.subheader("Motion by motion")
motions = query("contrast_motions", reference_language=study.reference_language, **chosen)
motion_records = motions.records()
colours = charts.language_colours(tuple(study.languages))
axis = charts.domain(records, [{"estimate": record["difference"]} for record in motion_records])
per_row = min(max(len(records), 2), PANELS_PER_ROW)
for start in range(0, len(records), per_row):
    for column, record in zip(st.columns(per_row), records[start : start + per_row], strict=False):
        with column:
            text.heading(record["name"], level=4)
            st.altair_chart(
                charts.ranked(
                    [motion for motion in motion_records if motion["language"] == record["language"]],
                    summary=record,
                    colour=colours[record["language"]],
                    axis=axis,
                ),
                width="stretch",
                key=f"motions-{places[record['language']]}",
                alt=f"The difference of every motion in {record['name']}, from the lowest to the highest",
            )
text.muted(
    "One stem a motion, from the lowest difference to the highest; the line is their mean and the band its interval. "
    "Single motions move a lot between generations (paper, 4.6): read the spread, not the ranking of motions."
)
st.dataframe(
    exhibit.grid(
        {
            "Language": [study.language(record["language"]).name for record in motion_records],
            "Rank": text.cells(motions.column("rank")),
            "Motion": text.cells(motions.column("motion_id")),
            "Difference": text.cells(motions.column("difference")),
            f"Motion in {study.reference_name}": text.cells(
                motions.column("motion_text"), study.language(study.reference_language).direction
            ),
        }
    ),
    height=280,
    hide_index=True,
    placeholder=text.EM_DASH,
    key="motions-table",
    column_config={"Difference": st.column_config.NumberColumn(format="%+.4f")},
)
exhibit.numbers(motions, "contrast-motions")
