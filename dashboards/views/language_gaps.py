"""How much more, or less, later turns return to earlier arguments in each language than in the reference language."""

import streamlit as st

from dashboards import charts, controls, exhibit, text
from dashboards.study import AGGREGATES, FIELDS, load_study
from dashboards.warehouse import query

study = load_study()

text.muted(
    f"A gap is the mean over motions of M(language) {text.MINUS} M({study.reference_name}), where M is a session's "
    f"prior-argument similarity and both sessions debate the same motion. Positive = higher than "
    f"{study.reference_name}: later turns return more to earlier arguments. A gap describes a model, a language "
    "and an encoder together; it ranks neither languages nor people."
)

chosen = controls.measure_selection(study, iter(st.columns(5)))
show_published = st.toggle(
    "Published values (Table 3, intervals of Table 4)", value=False, key="published", bind="query-params"
)

answer = query(
    "language_gaps",
    condition=chosen.condition,
    extractor=chosen.extractor,
    field=chosen.field,
    variant=chosen.variant,
    aggregate=chosen.aggregate,
)
published = query("published_language_gaps").records() if show_published else []
records = [{**record, "name": study.language(record["language"]).name} for record in answer.records()]
overlay = [
    {**record, "name": study.language(record["language"]).name}
    for record in published
    if record["estimate"] is not None and record["language"]
]

if not records:
    exhibit.nothing("language gap")
else:
    exhibit.interval_caveats(records, study)
    names = [study.language(code).name for code in study.other_languages]
    axis = charts.domain(records, overlay)
    only_published = sorted({record["encoder"] for record in overlay} - set(study.encoders))
    panels = [*study.encoders, *only_published]
    per_row = min(max(len(panels), 2), 3)
    for start in range(0, len(panels), per_row):
        for column, encoder in zip(st.columns(per_row), panels[start : start + per_row], strict=False):
            with column:
                text.heading(encoder if encoder in study.encoders else f"{encoder} (published only)")
                st.altair_chart(
                    charts.forest(
                        [record for record in records if record["encoder"] == encoder],
                        order=names,
                        colours=charts.encoder_colours(study.encoders),
                        axis=axis,
                        title=f"Gap to {study.reference_name}",
                        published=[record for record in overlay if record["encoder"] == encoder],
                    ),
                    width="stretch",
                    key=f"forest-{panels.index(encoder)}",
                    alt=f"Language gaps to {study.reference_name} with intervals, one panel an encoder",
                )
    text.muted(
        f"Points: estimates ({AGGREGATES[chosen.aggregate]}, {FIELDS.get(chosen.field, chosen.field)}, condition "
        f"{chosen.condition}). Bars: {study.interval_name}, percentile bootstrap over motions. A filled point: the "
        "interval excludes zero."
        + (" Grey diamonds: the paper's values, on its own 71 motions and four agents." if show_published else "")
    )
    exhibit.numbers(answer, "language-gaps")

    st.subheader("Motion by motion")
    spread = query(
        "motion_gaps",
        condition=chosen.condition,
        extractor=chosen.extractor,
        field=chosen.field,
        variant=chosen.variant,
        aggregate=chosen.aggregate,
    )
    st.html(
        text.table(
            [
                {
                    "encoder": record["encoder"],
                    "language": study.language(record["language"]).name,
                    "above": f"{record['motions_above_reference']:,} of {record['motions']:,}",
                    **{
                        key: text.signed(record[key])
                        for key in ("lowest", "lower_quartile", "median", "upper_quartile", "highest")
                    },
                }
                for record in spread.records()
            ],
            {
                "encoder": "Encoder",
                "language": "Language",
                "above": f"Motions above {study.reference_name}",
                "lowest": "Lowest",
                "lower_quartile": "Lower quartile",
                "median": "Median",
                "upper_quartile": "Upper quartile",
                "highest": "Highest",
            },
            numbers=("above", "lowest", "lower_quartile", "median", "upper_quartile", "highest"),
        )
    )
    text.muted(
        "The spread of the paired differences behind the estimates. Single motions move a lot between generations "
        "(paper, 4.6): read the aggregate, not the ranking of motions."
    )
    exhibit.numbers(spread, "motion-gaps")
