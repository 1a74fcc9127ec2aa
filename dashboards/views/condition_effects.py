"""What a prompt condition does to the measure within each language, and to the gap between languages."""

import streamlit as st

from dashboards import charts, controls, exhibit, text
from dashboards.study import load_study
from dashboards.warehouse import query

study = load_study()

if not study.other_conditions:
    text.note(
        f"The warehouse has one condition, {study.baseline_condition}, so there is nothing to compare it with. Add "
        "sessions of another condition to the archive and materialize the study again."
    )
    st.stop()

columns = iter(st.columns(6))
condition = study.other_conditions[0]
if len(study.other_conditions) > 1:
    with next(columns):
        condition = controls.choose("Condition", study.other_conditions, "against")
focal = study.focal_language
if focal is not None:
    with next(columns):
        focal = controls.choose(
            "Language of the gap",
            study.other_languages,
            "language",
            default=focal,
            show=lambda code: study.language(code).name,
        )
chosen = controls.measure_selection(study, columns, condition=False)
measure = {
    "extractor": chosen.extractor,
    "field": chosen.field,
    "variant": chosen.variant,
    "aggregate": chosen.aggregate,
}

text.heading(f"A. {condition} {text.MINUS} {study.baseline_condition}, within language")
effects = query("condition_effects", condition=condition, **measure)
records = [{**record, "name": study.language(record["language"]).name} for record in effects.records()]
if not records:
    exhibit.nothing("condition effect")
else:
    exhibit.interval_caveats(records, study)
    axis = charts.domain(records)
    for column, encoder in zip(st.columns(max(len(study.encoders), 2)), study.encoders, strict=False):
        with column:
            text.heading(encoder, level=4)
            st.altair_chart(
                charts.forest(
                    [record for record in records if record["encoder"] == encoder],
                    order=[language.name for language in study.languages.values()],
                    colours=charts.encoder_colours(study.encoders),
                    axis=axis,
                    title="Change in prior-argument similarity",
                ),
                width="stretch",
                key=f"effects-{study.encoders.index(encoder)}",
                alt="Condition effects by language with intervals, one panel an encoder",
            )
    text.muted(
        f"Mean over motions of M({condition}) {text.MINUS} M({study.baseline_condition}) in the same language and "
        f"motion, with its {study.interval_name}. Negative = lower similarity under {condition}: later turns "
        "return less to earlier arguments."
    )
    exhibit.numbers(effects, "condition-effects")

if focal is not None:
    focal_name = study.language(focal).name
    text.heading(f"B. The gap {focal_name} {text.MINUS} {study.reference_name} under both conditions")
    gaps = query("gaps_by_condition", language=focal, baseline=study.baseline_condition, condition=condition, **measure)
    gap_records = [{**record, "name": record["encoder"]} for record in gaps.records()]
    reductions = query("gap_reductions", condition=condition, **measure)
    if not gap_records:
        exhibit.nothing("language gap")
    else:
        figure, table = st.columns(2, gap="large")
        with figure:
            st.altair_chart(
                charts.conditions(
                    gap_records,
                    order=study.encoders,
                    baseline=study.baseline_condition,
                    colours=charts.encoder_colours(study.encoders),
                    axis=charts.domain(gap_records),
                    title=f"Gap to {study.reference_name}",
                ),
                width="stretch",
                key="gaps-by-condition",
                alt="The language gap under the baseline and under the condition, one row an encoder",
            )
            text.muted(
                f"Filled: {study.baseline_condition}. Open: {condition}. Positive = higher similarity in {focal_name} "
                f"than in {study.reference_name}."
            )
            exhibit.numbers(gaps, "gaps-by-condition")
        with table:
            st.html(
                text.table(
                    [
                        {
                            "encoder": record["encoder"],
                            "language": study.language(record["language"]).name,
                            "estimate": text.signed(record["estimate"]),
                            "interval": text.interval(record["ci_low"], record["ci_high"], record["interval_note"]),
                            "n_motions": record["n_motions"],
                        }
                        for record in reductions.records()
                    ],
                    {
                        "encoder": "Encoder",
                        "language": "Language",
                        "estimate": "Gap reduction",
                        "interval": study.interval_name,
                        "n_motions": "Motions",
                    },
                    numbers=("estimate", "interval", "n_motions"),
                )
            )
            text.muted(
                f"Gap reduction: gap under {study.baseline_condition} {text.MINUS} gap under {condition}, within "
                "motion. Positive = the gap narrows."
            )
            exhibit.numbers(reductions, "gap-reductions")
