"""Whether a gap may come from how much was said, how it was cut into sentences, or what the extractor made of it."""

import streamlit as st

from dashboards import charts, controls, exhibit, text
from dashboards.study import FIELDS, load_study
from dashboards.warehouse import query

MEASURES = {
    "sentence_count": "Sentences a turn",
    "text_length": "Length of a turn",
    "output_tokens": "Output tokens a turn",
    "n_arguments": "Arguments a turn",
}

study = load_study()
selectors = st.columns(4)
with selectors[0]:
    condition = controls.choose("Condition", study.conditions, "condition", default=study.baseline_condition)
with selectors[1]:
    extractor = controls.choose("Extractor", study.extractors, "extractor")
with selectors[2]:
    encoder = controls.choose("Encoder", study.encoders, "encoder") if study.encoders else ""
with selectors[3]:
    field = (
        controls.choose("Field", study.fields, "field", show=lambda name: FIELDS.get(name, name))
        if study.fields
        else ""
    )


def named(code: str) -> str:
    return study.language(code).name


def percent(value: float | None) -> str:
    return text.EM_DASH if value is None else f"{value:.1%}"


st.subheader("Sentences asked for, and sentences given")
sentences = query("diagnostics_sentences")
st.html(
    text.table(
        [
            row
            | {"language": named(row["language"])}
            | {name: percent(row[name]) for name in ("exact_rate", "under_rate", "over_rate")}
            | {"mean_sentences": text.fixed(row["mean_sentences"], 2)}
            | {"length": f"{text.fixed(row['mean_sentence_length'], 1)} {row['length_unit'] or ''}"}
            | {"note": row["note"] or ""}
            for row in sentences.records()
        ],
        {
            "condition": "Condition",
            "language": "Language",
            "n_turns": "Turns",
            "exact_rate": "As asked",
            "under_rate": "Too few",
            "over_rate": "Too many",
            "mean_sentences": "Sentences",
            "length": "Length of a sentence",
            "note": "",
        },
        numbers=("n_turns", "exact_rate", "under_rate", "over_rate", "mean_sentences", "length"),
    )
)
text.muted("Sentences are counted by each language's own marks; length is in tokens, in Chinese in characters.")
exhibit.numbers(sentences, "diagnostics-sentences")

correlations = query("diagnostics_correlations", condition=condition, extractor=extractor, encoder=encoder, field=field)
with st.expander("Do turns with more, or other, sentences have another similarity? Rank correlations"):
    st.html(
        text.table(
            [
                row
                | {"language": named(row["language"]), "spearman": text.signed(row["spearman"], 3)}
                | {"note": row["note"] or ""}
                | {name: row[name].replace("_", " ") for name in ("sentence_measure", "outcome")}
                for row in correlations.records()
            ],
            {
                "sentence_measure": "Measure",
                "outcome": "With",
                "language": "Language",
                "spearman": "Spearman's ρ",
                "n_turns": "Turns",
                "note": "",
            },
            numbers=("spearman", "n_turns"),
        )
    )
exhibit.numbers(correlations, "diagnostics-correlations")

st.subheader("What the extractor made of the turns")
extraction = query("diagnostics_extraction")
st.html(
    text.table(
        [
            row
            | {"language": named(row["language"])}
            | {
                name: percent(row[name])
                for name in ("failure_rate", "empty_warrant_rate", "empty_evidence_rate", "off_schema_rate")
            }
            | {
                "mean_arguments": text.fixed(row["mean_arguments"], 2),
                "mean_claim_characters": text.fixed(row["mean_claim_characters"], 1),
            }
            for row in extraction.records()
        ],
        {
            "extractor": "Extractor",
            "condition": "Condition",
            "language": "Language",
            "n_turns": "Turns",
            "n_failed": "Failed",
            "n_missing": "Missing",
            "failure_rate": "Failure rate",
            "mean_arguments": "Arguments a turn",
            "mean_claim_characters": "Characters a claim",
            "empty_warrant_rate": "No warrant",
            "empty_evidence_rate": "No evidence",
            "off_schema_rate": "Type not of the schema",
        },
        numbers=(
            "n_turns",
            "n_failed",
            "n_missing",
            "failure_rate",
            "mean_arguments",
            "mean_claim_characters",
            "empty_warrant_rate",
            "empty_evidence_rate",
            "off_schema_rate",
        ),
    )
)
exhibit.numbers(extraction, "diagnostics-extraction")

st.subheader("Types of argument")
types = query("diagnostics_types", condition=condition, extractor=extractor)
if types.rows:
    st.altair_chart(
        charts.shares(
            [{**row, "group": named(row["language"]), "part": row["argument_type"]} for row in types.records()],
            order=[language.name for language in study.languages.values()],
            title="Share of the language's arguments",
        ),
        width="stretch",
        key="types",
        alt="Shares of argument types, one bar a language",
    )
    exhibit.numbers(types, "diagnostics-types")
else:
    exhibit.nothing("argument")

st.subheader("How much is said under other conditions")
volume = query("diagnostics_volume")
if volume.rows:
    exhibit.interval_caveats(volume.records(), study)
    st.html(
        text.table(
            [
                row
                | {
                    "measure": MEASURES.get(row["measure"], row["measure"]),
                    "language": named(row["language"]),
                    "mean_amount": text.fixed(row["mean_amount"], 2),
                    "reference_mean_amount": text.fixed(row["reference_mean_amount"], 2),
                    "estimate": text.signed(row["estimate"], 3),
                    "interval": text.interval(row["ci_low"], row["ci_high"], digits=3),
                }
                for row in volume.records()
            ],
            {
                "measure": "Measure",
                "condition": "Condition",
                "language": "Language",
                "mean_amount": "Under it",
                "reference_mean_amount": f"Under {study.baseline_condition}",
                "estimate": "Difference",
                "interval": study.interval_name,
                "n_motions": "Motions",
            },
            numbers=("mean_amount", "reference_mean_amount", "estimate", "interval", "n_motions"),
        )
    )
else:
    exhibit.nothing("second condition")
text.muted("A condition that lowers similarity by saying less would show here.")
exhibit.numbers(volume, "diagnostics-volume")
