"""Arguments with their nearest earlier argument: the distribution of similarity, its tail, and the pairs in it."""

import streamlit as st

from dashboards import charts, controls, exhibit, text, transcript
from dashboards.study import FIELDS, load_study
from dashboards.warehouse import query

BIN_WIDTH = 0.01
ORDERS = ("highest first", "lowest first")
SIDES = {"any": None, "same side": "same", "other side": "other"}
EVERY = "all"

study = load_study()

if not study.encoders:
    text.note(
        "No similarity is in the warehouse yet. Materialize the study to fill `marts.max_prior_pairs`.", "warning"
    )
    st.stop()

# The paper takes its tail thresholds from English and Chinese pooled [4.3]; that is where the page starts.
pooled = [code for code in (study.reference_language, study.focal_language) if code in study.languages]
selectors = st.columns([3, 2, 2, 2, 2])
with selectors[0]:
    languages = st.multiselect(
        "Languages, pooled for the thresholds",
        list(study.languages),
        default=pooled,
        key="languages",
        format_func=lambda code: study.language(code).name,
        bind="query-params",
    )
with selectors[1]:
    condition = controls.choose("Condition", study.conditions, "condition", default=study.baseline_condition)
with selectors[2]:
    encoder = controls.choose("Encoder", study.encoders, "encoder")
with selectors[3]:
    field = controls.choose("Field that is embedded", study.fields, "field", show=lambda name: FIELDS.get(name, name))
with selectors[4]:
    extractor = controls.choose("Extractor", study.extractors, "extractor")
if not languages:
    text.note("Choose at least one language.")
    st.stop()

chosen = {
    "languages": sorted(languages),
    "condition": condition,
    "extractor": extractor,
    "encoder": encoder,
    "field": field,
}
thresholds = query("pair_thresholds", **chosen)
if not thresholds.rows:
    exhibit.nothing("pair")
    st.stop()
cuts = {record["percentile"]: record["threshold"] for record in thresholds.records()}
shown_languages = [code for code in study.languages if code in languages]
names = {code: language.name for code, language in study.languages.items()}

figure, table = st.columns([3, 2], gap="large")
with figure:
    histogram = query("pair_histogram", bin_width=BIN_WIDTH, **chosen)
    st.altair_chart(
        charts.histogram(
            histogram.records(),
            thresholds={f"{percentile}%": cut for percentile, cut in cuts.items()},
            width=BIN_WIDTH,
            order=shown_languages,
            colours=charts.language_colours(tuple(study.languages)),
            names=names,
        ),
        width="stretch",
        key="histogram",
        alt="Distribution of similarity to the nearest earlier argument, one line a language",
    )
    exhibit.numbers(histogram, "similarity-histogram")
with table:
    rates = query("pair_tail_rates", **chosen)
    st.html(
        text.table(
            [
                {
                    "language": names[record["language"]],
                    "n_arguments": record["n_arguments"],
                    "mean": text.fixed(record["mean_similarity"]),
                    **{f"share_{percentile}": f"{record[f'share_above_{percentile}']:.1%}" for percentile in cuts},
                }
                for record in sorted(rates.records(), key=lambda record: shown_languages.index(record["language"]))
            ],
            {
                "language": "Language",
                "n_arguments": "Arguments",
                "mean": "Mean",
                **{
                    f"share_{percentile}": f"≥\u00a0{text.fixed(cut)} ({percentile}%)"
                    for percentile, cut in cuts.items()
                },
            },
            numbers=("n_arguments", "mean", *(f"share_{percentile}" for percentile in cuts)),
        )
    )
    text.muted(
        "Thresholds are the 80th, 90th and 95th percentile of similarity over all arguments of the chosen languages "
        "together; the columns give each language's share at or above them. A language with a larger share than "
        "20, 10 or 5% is over-represented in that tail. The tail mixes restatement, rebuttal and refinement."
    )
    exhibit.numbers(rates, "tail-rates")

st.subheader("Pairs")
filters = st.columns([3, 2, 2, 2, 2])
with filters[0]:
    lowest, highest = st.slider("Similarity", -1.0, 1.0, (-1.0, 1.0), 0.01, key="between")
with filters[1]:
    motions = [
        record["motion_id"] for record in query("transcript_motions", language=study.reference_language).records()
    ]
    motion = controls.choose("Motion", (EVERY, *motions), "motion")
with filters[2]:
    agent = controls.choose("Speaker", (EVERY, *query("pair_agents").column("agent")), "agent")
with filters[3]:
    side = controls.choose("Earlier argument is of the", tuple(SIDES), "side")
with filters[4]:
    order = controls.choose("Order", ORDERS, "order")
pairs = query(
    "pairs",
    lowest=lowest,
    highest=highest,
    motion=None if motion == EVERY else motion,
    agent=None if agent == EVERY else agent,
    side=SIDES[side],
    order=order,
    **chosen,
)
if not pairs.rows:
    exhibit.nothing("pair")
    st.stop()

records = pairs.records()
rows = {
    "Similarity": text.cells(pairs.column("similarity")),
    "Language": [names.get(record["language"], record["language"]) for record in records],
    "Motion": [text.label(record["motion_id"]) for record in records],
    "Turns": [f"{record['nearest_turn_index']} → {record['turn_index']}" for record in records],
    "Agents": [f"{text.label(record['nearest_agent'])} → {text.label(record['agent'])}" for record in records],
    "Earlier claim": [
        text.label(record["nearest_claim"], study.language(record["language"]).direction) for record in records
    ],
    "Claim": [text.label(record["claim"], study.language(record["language"]).direction) for record in records],
}
picked = st.dataframe(
    exhibit.grid(rows),
    height=320,
    hide_index=True,
    placeholder=text.EM_DASH,
    on_select="rerun",
    selection_mode="single-row",
    key="pairs-table",
    column_config={
        "Similarity": st.column_config.NumberColumn(format="%.4f", width="small"),
        "Earlier claim": st.column_config.TextColumn(width="large"),
        "Claim": st.column_config.TextColumn(width="large"),
    },
)
text.muted("At most 200 pairs, in the order chosen. Select a row to see the two arguments in full.")
exhibit.numbers(pairs, "pairs")

selected_rows = picked["selection"]["rows"]
pair = records[selected_rows[0] if selected_rows and selected_rows[0] < len(records) else 0]
language = study.language(pair["language"])
detail = query("pair_detail", argument=pair["argument_id"], nearest=pair["nearest_argument_id"], extractor=extractor)
by_id = {record["argument_id"]: record for record in detail.records()}

text.heading(f"Turn {pair['nearest_turn_index']} and turn {pair['turn_index']} of {pair['session_id']}")
if pair["argument_id"] in by_id:
    st.html(text.passage(by_id[pair["argument_id"]]["motion_text"], language.code, language.direction))


def full_argument(argument_id: str) -> str:
    record = by_id.get(argument_id)
    if record is None:
        return text.passage(None, language.code, language.direction)
    who = ", ".join(
        [
            f"turn {record['turn_index']}",
            transcript.PHASES.get(record["phase"], record["phase"] or text.EM_DASH),
            transcript.ROLES.get(record["role"], record["role"] or text.EM_DASH),
            record["agent"] or text.EM_DASH,
            record["argument_type"] or "no type",
        ]
    )
    speech = text.passage(record["turn_text"], language.code, language.direction, css="rp-detail")
    unit = transcript.argument(who, record["claim"], record["warrant"], record["evidence_or_example"], language)
    return f"<div>{unit}<details><summary class='rp-muted'>the whole turn</summary>{speech}</details></div>"


st.html(
    '<div class="rp-pair">'
    f"{full_argument(pair['nearest_argument_id'])}{transcript.similarity_mark(pair['similarity'])}"
    f"{full_argument(pair['argument_id'])}</div>"
)
st.page_link(
    "views/transcripts.py",
    label="Read it in its debate",
    query_params={"session": pair["session_id"], "argument": pair["argument_id"]},
)
exhibit.numbers(detail, "pair-detail")
