"""Whether the gaps survive other estimators, other encoders and the noise of generation."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import streamlit as st

from dashboards import charts, controls, exhibit, text
from dashboards.study import AGGREGATES, FIELDS, load_study, ordered
from dashboards.warehouse import query

PANELS_PER_ROW = 3
SPECIFICATIONS = {
    "A": "A. Language and motion",
    "B": "B. A + turn, role, side and agent",
    "C": "C. B + length and extraction",
    "C_bootstrap": "C, refitted on resampled motions",
    "mixed": "Mixed model, motions at random",
}
NUMBERS = ("estimate", "std_error", "interval", "n_turns", "n_motions")

study = load_study()
if not study.encoders:
    text.note(
        "No similarity is in the warehouse yet. Materialize the study to fill `marts.max_prior_pairs`.", "warning"
    )
    st.stop()

selectors = st.columns(4)
with selectors[0]:
    encoder = controls.choose("Encoder", study.encoders, "encoder")
with selectors[1]:
    field = controls.choose("Field that is embedded", study.fields, "field", show=lambda name: FIELDS.get(name, name))
with selectors[2]:
    condition = controls.choose("Condition", study.conditions, "condition", default=study.baseline_condition)
with selectors[3]:
    extractor = controls.choose("Extractor", study.extractors, "extractor")
measure = {"extractor": extractor, "encoder": encoder, "field": field}
places = {code: place for place, code in enumerate(study.languages)}
colours = charts.encoder_colours(study.encoders)


def named(records: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows with the language's name as `name`, in the study's order of languages within the order of the query."""
    return [
        {"encoder": encoder, **record, "name": study.language(record["language"]).name}
        for record in sorted(records, key=lambda record: places.get(record["language"], -1))
    ]


def caveats(records: Iterable[Mapping[str, Any]]) -> None:
    """Every distinct note that the rows carry about their estimates and intervals."""
    for reason in sorted({record["interval_note"] for record in records if record["interval_note"]}):
        text.note(reason, "warning")


def panels(groups: Mapping[str, Sequence[dict[str, Any]]], title: str, stem: str) -> None:
    """One forest a group on a shared axis; rows without an estimate are in the table only."""
    drawn = {name: [row for row in rows if row["estimate"] is not None] for name, rows in groups.items()}
    drawn = {name: rows for name, rows in drawn.items() if rows}
    axis = charts.domain(*drawn.values())
    order = list(dict.fromkeys(row["name"] for rows in drawn.values() for row in rows))
    order.sort(key=[language.name for language in study.languages.values()].index)
    names = list(drawn)
    for start in range(0, len(names), PANELS_PER_ROW):
        for place, column in enumerate(st.columns(PANELS_PER_ROW)[: len(names) - start], start):
            with column:
                text.heading(names[place], level=4)
                st.altair_chart(
                    charts.forest(drawn[names[place]], order=order, colours=colours, axis=axis, title=title),
                    width="stretch",
                    key=f"{stem}-{place}",
                    alt=f"{title} by language with intervals, one panel a group",
                )


def share(row: Mapping[str, Any], show: Callable[[float | None, int], str]) -> str:
    """A share, or the difference of two, with its interval, in thousandths as the shares of few pairs allow."""
    return f"{show(row['estimate'], 3)} {text.interval(row['ci_low'], row['ci_high'], digits=3)}"


st.subheader("Regressions")
regressions = query("regressions", condition=study.baseline_condition, **measure)
fitted = named(regressions.records())
if not fitted:
    exhibit.nothing("regression")
else:
    caveats(fitted)
    specifications = ordered((row["specification"] for row in fitted), SPECIFICATIONS)
    panels(
        {
            SPECIFICATIONS.get(name, name): [
                row for row in fitted if row["specification"] == name and row["term"] == "language"
            ]
            for name in specifications
        },
        f"Coefficient against {study.reference_name}",
        "regressions",
    )
    text.muted(
        f"Turn by turn, under {study.baseline_condition} only: the coefficient of the language, with motion effects "
        f"and errors clustered by motion. Bars: {study.interval_name}. Positive = higher than {study.reference_name}."
    )
    dropped = {
        name: sorted(
            {column for row in fitted if row["specification"] == name for column in row["dropped_columns"] or ()}
        )
        for name in specifications
    }
    for name, columns in dropped.items():
        if columns:
            text.muted(
                f"{SPECIFICATIONS.get(name, name)}: left out because they depend on the columns before them: "
                f"{', '.join(columns)}."
            )
    singular = [row["name"] for row in fitted if row["singular"]]
    if singular:
        text.note(
            f"The mixed model's variance between motions is at its boundary or not determined for "
            f"{', '.join(dict.fromkeys(singular))}: read A to C instead.",
            "warning",
        )
    with st.expander("All coefficients, the controls of C too"):
        st.html(
            text.table(
                [
                    {
                        **row,
                        "estimate": text.signed(row["estimate"]),
                        "std_error": text.fixed(row["std_error"], 4),
                        "interval": text.interval(row["ci_low"], row["ci_high"], row["interval_note"]),
                        "dropped": ", ".join(row["dropped_columns"] or ()) or None,
                    }
                    for row in sorted(fitted, key=lambda row: specifications.index(row["specification"]))
                ],
                {
                    "specification": "Specification",
                    "name": "Language",
                    "term": "Term",
                    "estimate": "Coefficient",
                    "std_error": "Standard error",
                    "interval": study.interval_name,
                    "n_turns": "Turns",
                    "n_motions": "Motions",
                    "dropped": "Dropped columns",
                },
                numbers=NUMBERS,
            )
        )
    exhibit.numbers(regressions, "regressions")

st.subheader("Tail rates")
rates = query("tail_rate_contrasts", condition=condition, **measure)
tails = named(rates.records())
if not tails:
    exhibit.nothing("tail rate")
else:
    scorer = controls.choose("Scorer of the pairs", ordered((row["scorer"] for row in tails), [encoder]), "scorer")
    tails = [row for row in tails if row["scorer"] == scorer]
    caveats(tails)
    cells: dict[tuple[int, str], dict[str, dict[str, Any]]] = {}
    for row in tails:
        cells.setdefault((row["percentile"], row["name"]), {})[row["quantity"]] = row
    panels(
        {
            f"Above the {percentile}th percentile": [
                row for row in tails if row["percentile"] == percentile and row["quantity"] == "difference"
            ]
            for percentile in sorted({row["percentile"] for row in tails})
        },
        f"Difference of the shares, to {study.reference_name}",
        "tail-rates",
    )
    st.html(
        text.table(
            [
                {
                    "percentile": percentile,
                    "name": name,
                    "threshold": text.fixed(quantities["difference"]["threshold"]),
                    "rate": share(quantities["rate"], text.fixed),
                    "reference_rate": share(quantities["reference_rate"], text.fixed),
                    "difference": share(quantities["difference"], text.signed),
                    "n_pairs": quantities["difference"]["n_pairs"],
                    "n_motions": quantities["difference"]["n_motions"],
                }
                for (percentile, name), quantities in sorted(cells.items(), key=lambda cell: cell[0][0])
            ],
            {
                "percentile": "Percentile",
                "name": "Language",
                "threshold": "Threshold",
                "rate": "Share of the language",
                "reference_rate": f"Share of {study.reference_name}",
                "difference": "Difference",
                "n_pairs": "Pairs",
                "n_motions": "Motions",
            },
            numbers=("percentile", "threshold", "rate", "reference_rate", "difference", "n_pairs", "n_motions"),
        )
    )
    text.muted(
        "The share of arguments whose value for the nearest earlier one reaches a percentile of both languages "
        f"together. Thresholds stay as they are while motions are resampled. In brackets: {study.interval_name}."
    )
    exhibit.numbers(rates, "tail-rate-contrasts")

st.subheader("Encoder agreement")
agreement = query("encoder_agreement", condition=condition, **measure)
correlations = named({**record, "encoder": record["other_encoder"]} for record in agreement.records())
if not correlations:
    text.note(f"No other encoder measured these turns, so nothing can agree with {encoder}. Add one to the study.")
else:
    caveats(correlations)
    others = ordered((row["encoder"] for row in correlations), study.encoders)
    panels(
        {f"{encoder} and {other}": [row for row in correlations if row["encoder"] == other] for other in others},
        "Spearman correlation over turns",
        "agreement",
    )
    text.muted(
        f"Do both encoders call the same turns similar to what came before? Within language, condition {condition}. "
        f"Bars: {study.interval_name}, motions resampled."
    )
    exhibit.numbers(agreement, "encoder-agreement")

st.subheader("Repeat noise")
noise = query("repeat_noise", **measure)
repeats = noise.records()
if not repeats:
    exhibit.nothing("repeat noise")
else:
    caveats(repeats)
    if any(row["estimate"] is not None for row in repeats):
        st.html(
            text.table(
                [
                    {
                        **row,
                        "aggregate": AGGREGATES.get(row["aggregate"], row["aggregate"]),
                        "language": "all" if row["language"] is None else study.language(row["language"]).name,
                        "estimate": text.fixed(row["estimate"], 4),
                        "interval": text.interval(row["ci_low"], row["ci_high"], row["interval_note"]),
                    }
                    for row in repeats
                ],
                {
                    "variant": "Variant",
                    "aggregate": "Aggregate",
                    "language": "Language",
                    "estimate": "Standard deviation",
                    "interval": study.interval_name,
                    "n_cells": "Repeated debates",
                    "n_sessions": "Sessions",
                    "n_motions": "Motions",
                },
                numbers=("estimate", "interval", "n_cells", "n_sessions", "n_motions"),
            )
        )
    text.muted(
        "How far repeats of one motion, language and condition differ, all conditions together: a gap on a single "
        "motion has to be read against it."
    )
    exhibit.numbers(noise, "repeat-noise")

st.subheader("Null distribution by turn")
unrelated = query("null_distribution", condition=condition, **measure)
if not unrelated.rows:
    exhibit.nothing("similarity to debates about other motions")
else:
    figure, table = st.columns([3, 2], gap="large")
    with figure:
        st.altair_chart(
            charts.trajectories(
                [
                    {**record, "mean_similarity": record["null_mean"], "n_motions": record["n_sessions"]}
                    for record in unrelated.records()
                ],
                focal=study.focal_language or study.reference_language,
                reference=study.reference_language,
                colours=charts.language_colours(tuple(study.languages)),
                names={code: language.name for code, language in study.languages.items()},
                title="Mean similarity to debates about other motions",
                counted="Sessions",
            ),
            width="stretch",
            key="null-distribution",
            alt="Mean similarity to debates about other motions by turn, one line a language",
        )
    with table:
        st.dataframe(
            exhibit.grid(
                {
                    "Language": [study.language(code).name for code in unrelated.column("language")],
                    "Turn": text.cells(unrelated.column("turn_index")),
                    "Mean": text.cells(unrelated.column("null_mean")),
                    "Standard deviation": text.cells(unrelated.column("null_sd")),
                    "Draws": text.cells(unrelated.column("n_draws")),
                    "Sessions": text.cells(unrelated.column("n_sessions")),
                }
            ),
            height=charts.FIGURE_HEIGHT,
            hide_index=True,
            placeholder=text.EM_DASH,
            key="null-table",
            column_config={
                name: st.column_config.NumberColumn(format="%.4f") for name in ("Mean", "Standard deviation")
            },
        )
    text.muted(
        "The level that similarity has without a shared motion: an argument against what debates about other motions "
        "hold before its turn. It rises with the prior pool; the null-adjusted variant subtracts it."
    )
    exhibit.numbers(unrelated, "null-distribution")
