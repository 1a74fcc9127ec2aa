"""What a similarity means: how often people call such a pair repeated, and how far instruments agree with them."""

import streamlit as st

from dashboards import charts, controls, exhibit, text
from dashboards.study import FIELDS, load_study
from dashboards.warehouse import query

COLLAPSES = {"repeated": "repeated (label 2 or 3)", "strict": "strictly repeated (label 3)"}
QUANTITIES = {"weighted_rate": "labelled pairs, weighted", "calibrated_rate": "all pairs, by the curve"}
MEASURES = {"spearman": "Spearman's ρ", "auc_repeated": "AUC, repeated", "auc_strict": "AUC, strictly repeated"}

study = load_study()
labelled = query("report_labels").records()
if not labelled:
    text.note(
        "People have labelled no pair of this study, so nobody knows what a high similarity means in it. "
        "`reprise draw-audit` draws pairs for them (docs/human-audits.md).",
        "warning",
    )
selectors = st.columns(4)
with selectors[0]:
    collapse = controls.choose("Counts as repetition", tuple(COLLAPSES), "collapse", show=COLLAPSES.__getitem__)
with selectors[1]:
    encoder = controls.choose("Encoder", study.encoders, "encoder") if study.encoders else ""
with selectors[2]:
    field = (
        controls.choose("Field", study.fields, "field", show=lambda name: FIELDS.get(name, name))
        if study.fields
        else ""
    )
with selectors[3]:
    extractor = controls.choose("Extractor", study.extractors, "extractor")
measure = {"field": field, "extractor": extractor}


def pooled(code: str | None) -> str:
    return "all" if code is None else study.language(code).name


st.subheader("Repetition by similarity")
curve = query("calibration_curve", collapse=collapse, **measure)
points = [row for row in curve.records() if row["estimate"] is not None]
if points:
    exhibit.interval_caveats(points, study)
    st.altair_chart(
        charts.calibration_curve(points, colours=charts.encoder_colours(study.encoders)),
        width="stretch",
        key="curve",
        alt="The share of labelled pairs that people call repeated, by quintile of similarity and encoder",
    )
    text.muted(
        f"Share of labelled pairs that are {COLLAPSES[collapse]}, by fifth of the encoder's similarities, weighted to "
        f"the population. Bars: {study.interval_name}. A curve that hardly rises says that the measure tells little "
        "about single pairs."
    )
    exhibit.numbers(curve, "calibration-curve")
else:
    exhibit.nothing("labelled pair")

rates = query("calibration_rates", collapse=collapse, **measure)
if rates.rows:
    st.html(
        text.table(
            [
                row
                | {
                    "of": QUANTITIES[row["quantity"]],
                    "language": pooled(row["language"])
                    + (f" {text.MINUS} {pooled(row['reference_language'])}" if row["reference_language"] else ""),
                    "rate": text.signed(row["estimate"], 3)
                    if row["reference_language"]
                    else text.fixed(row["estimate"]),
                    "interval": text.interval(row["ci_low"], row["ci_high"], digits=3),
                }
                for row in rates.records()
            ],
            {
                "of": "Rate of repetition among",
                "encoder": "Encoder",
                "language": "Language",
                "n_labelled": "Labelled",
                "n_pairs": "Pairs",
                "rate": "Rate",
                "interval": study.interval_name,
            },
            numbers=("n_labelled", "n_pairs", "rate", "interval"),
        )
    )
    exhibit.numbers(rates, "calibration-rates")

st.subheader("Instruments against people")
alignment = query("calibration_alignment", field=field)
exhibit.interval_caveats([row for row in alignment.records() if row["interval_status"] == "no_interval"], study)
if alignment.rows:
    st.html(
        text.table(
            [
                row
                | {
                    "language": pooled(row["language"]),
                    "measure": MEASURES.get(row["measure"], row["measure"]),
                    "estimate": text.fixed(row["estimate"]),
                    "interval": text.interval(row["ci_low"], row["ci_high"], digits=3),
                }
                for row in alignment.records()
            ],
            {
                "instrument_kind": "Kind",
                "instrument": "Instrument",
                "language": "Language",
                "measure": "Measure",
                "n_pairs": "Pairs",
                "estimate": "Estimate",
                "interval": study.interval_name,
            },
            numbers=("n_pairs", "estimate", "interval"),
        )
    )
    exhibit.numbers(alignment, "calibration-alignment")
else:
    exhibit.nothing("instrument beside labels")

agreement = query("calibration_agreement")
with st.expander("Agreement of raters"):
    st.html(
        text.table(
            [
                row
                | {
                    "who": " and ".join(filter(None, (row["rater"], row["other_rater"]))) or "all",
                    "language": pooled(row["language"]),
                    "measure": row["measure"].replace("_", " "),
                    "estimate": text.fixed(row["estimate"]),
                    "interval": text.interval(row["ci_low"], row["ci_high"], digits=3),
                }
                for row in agreement.records()
            ],
            {
                "comparison": "Compared",
                "dimension": "On",
                "who": "Raters",
                "language": "Language",
                "measure": "Measure",
                "n_items": "Items",
                "estimate": "Agreement",
                "interval": study.interval_name,
            },
            numbers=("n_items", "estimate", "interval"),
        )
    )
exhibit.numbers(agreement, "calibration-agreement")

st.subheader("High similarity that people did not call repetition")
examples = query("calibration_examples", encoder=encoder, **measure)
for row in examples.records():
    language = study.language(row["language"])
    text.muted(f"Similarity {text.fixed(row['similarity'])}, label {row['label']}, {language.name}")
    for column, claim in zip(st.columns(2, gap="large"), (row["earlier_claim"], row["later_claim"]), strict=True):
        with column:
            st.html(text.passage(claim, language.code, language.direction))
if not examples.rows:
    exhibit.nothing("such pair")
text.muted("The pairs of highest similarity with label 0 or 1, the earlier claim on the left.")
exhibit.numbers(examples, "calibration-examples")
