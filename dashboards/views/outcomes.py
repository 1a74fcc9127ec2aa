"""Whether similarity goes with the judged quality of a debate, and what a lower similarity buys."""

import streamlit as st

from dashboards import controls, exhibit, text
from dashboards.study import FIELDS, load_study
from dashboards.warehouse import query

study = load_study()
selectors = st.columns(3)
with selectors[0]:
    encoder = controls.choose("Encoder", study.encoders, "encoder") if study.encoders else ""
with selectors[1]:
    field = (
        controls.choose("Field", study.fields, "field", show=lambda name: FIELDS.get(name, name))
        if study.fields
        else ""
    )
with selectors[2]:
    extractor = controls.choose("Extractor", study.extractors, "extractor")
answer = query("outcome_associations", encoder=encoder, field=field, extractor=extractor)
records = answer.records()
if not records:
    text.note("No judge has scored these debates. `reprise judge outcomes` asks one (docs/human-audits.md).", "warning")


def named(code: str | None) -> str:
    return "all" if code is None else study.language(code).name


def plain(name: str) -> str:
    return name.replace("_", " ")


def rows_of(*analyses: str) -> list[dict]:
    """The rows of some analyses, ready for a table."""
    return [
        row
        | {
            "analysis": plain(row["analysis"]),
            "dimension": plain(row["dimension"]),
            "language": named(row["language"])
            + (f" {text.MINUS} {named(row['reference_language'])}" if row["reference_language"] else ""),
            "condition": row["condition"] or "all",
            "estimate": text.signed(row["estimate"], 3),
            "interval": text.interval(row["ci_low"], row["ci_high"], digits=3),
            "p_value": text.fixed(row["p_value"]),
            "ceiling_share": text.EM_DASH if row["ceiling_share"] is None else f"{row['ceiling_share']:.0%}",
        }
        for row in records
        if row["analysis"] in analyses
    ]


SCALE = {"n_distinct_scores": "Values used", "ceiling_share": "At the ceiling"}
SHARED = {"judge": "Judge", "dimension": "Dimension"}
INTERVAL = {"interval": study.interval_name, "n_motions": "Motions"}
NUMBERS = ("n_sessions", "estimate", "interval", "p_value", "n_motions", "n_distinct_scores", "ceiling_share")

exhibit.interval_caveats(records, study)
st.subheader("Similarity and judged quality")
st.html(
    text.table(
        rows_of("spearman"),
        SHARED | {"language": "Language", "n_sessions": "Debates", "estimate": "Spearman's ρ"} | INTERVAL | SCALE,
        numbers=NUMBERS,
    )
)
text.muted(
    "Baseline debates. Negative = debates that return more to earlier arguments are judged lower. A judge that uses "
    "few values, or its highest often, cannot tell debates apart: ties pull ρ towards zero."
)
st.html(
    text.table(
        rows_of("motion_fe_slope"),
        SHARED | {"n_sessions": "Debates", "estimate": "Points per +0.01 similarity", "p_value": "p"} | INTERVAL,
        numbers=NUMBERS,
    )
)
text.muted("Within motions: quality on similarity with an effect of each motion, errors clustered by motion.")

st.subheader("What a condition buys")
st.html(
    text.table(
        rows_of("condition_effect", "difference_in_differences"),
        SHARED
        | {"analysis": "Quantity", "condition": "Condition", "language": "Language", "estimate": "Points"}
        | INTERVAL,
        numbers=NUMBERS,
    )
)
text.muted(
    "Condition minus baseline in the same motion and language, and the difference of two languages in it. A lower "
    "similarity need not be a better debate."
)
exhibit.numbers(answer, "outcome-associations")

st.subheader("How the judge scores")
scale = query("outcome_scale")
st.html(
    text.table(
        [
            row
            | {
                "dimension": plain(row["dimension"]),
                "language": named(row["language"]),
                "mean_score": text.fixed(row["mean_score"], 2),
                "sd_score": text.fixed(row["sd_score"], 2),
                "range": f"{row['lowest_score']} to {row['highest_score']}",
                "ceiling_share": f"{row['ceiling_share']:.0%}",
            }
            for row in scale.records()
        ],
        {
            "judge": "Judge",
            "dimension": "Dimension",
            "condition": "Condition",
            "language": "Language",
            "n_sessions": "Debates",
            "mean_score": "Mean",
            "sd_score": "SD",
            "range": "Range",
            "n_distinct_scores": "Values used",
            "ceiling_share": "At the ceiling",
        },
        numbers=("n_sessions", "mean_score", "sd_score", "range", "n_distinct_scores", "ceiling_share"),
    )
)
text.muted("One judge may score languages on different scales: read differences within a language.")
exhibit.numbers(scale, "outcome-scale")

prefixes = query("prefix_scores")
if prefixes.rows:
    st.subheader("Debates cut short")
    st.html(
        text.table(
            [
                row
                | {"dimension": plain(row["dimension"]), "language": named(row["language"])}
                | {name: text.fixed(row[name], 2) for name in ("mean_score", "mean_whole")}
                | {"mean_gain": text.signed(row["mean_gain"], 2)}
                for row in prefixes.records()
            ],
            {
                "judge": "Judge",
                "dimension": "Dimension",
                "language": "Language",
                "n_turns": "Turns shown",
                "sessions": "Debates",
                "mean_score": "Mean",
                "mean_whole": "Mean of the whole",
                "mean_gain": "Gain of the rest",
            },
            numbers=("n_turns", "sessions", "mean_score", "mean_whole", "mean_gain"),
        )
    )
    text.muted(
        "A judge near its ceiling sees no gain where there is one, and a debate that is said to be cut short is "
        "another thing than one that ends: no rule for stopping early follows from this."
    )
    exhibit.numbers(prefixes, "prefix-scores")
