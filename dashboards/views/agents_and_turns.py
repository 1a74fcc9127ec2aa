"""Whether a language gap rests on one agent or one part of the debate."""

import streamlit as st

from dashboards import charts, controls, exhibit, text
from dashboards.study import load_study, ordered
from dashboards.warehouse import query

study = load_study()

if study.focal_language is None:
    text.note(f"The warehouse has one language, {study.reference_name}, so there is no gap to show.")
    st.stop()

columns = iter(st.columns(5))
with next(columns):
    focal = controls.choose(
        "Language",
        study.other_languages,
        "language",
        default=study.focal_language,
        show=lambda code: study.language(code).name,
    )
focal_name = study.language(focal).name
chosen = controls.measure_selection(study, columns, aggregate=False)
measure = {
    "condition": chosen.condition,
    "extractor": chosen.extractor,
    "field": chosen.field,
    "variant": chosen.variant,
}

pooled = query("pooled_gaps", language=focal, **measure)
by_agent = query("agent_gaps", language=focal, **measure)
pooled_records = [{**record, "name": record["encoder"]} for record in pooled.records()]
agent_records = [{**record, "name": record["agent"]} for record in by_agent.records()]
gap_title = f"{focal_name} {text.MINUS} {study.reference_name}"

if not pooled_records:
    exhibit.nothing("language gap")
else:
    exhibit.interval_caveats(pooled_records + agent_records, study)
    axis = charts.domain(pooled_records, agent_records)
    agents = ordered((record["agent"] for record in agent_records), (query("study").first() or {}).get("agents"))
    panels = st.columns(1 + len(study.encoders))
    with panels[0]:
        text.heading("A. All agents")
        present = {record["encoder"] for record in pooled_records}
        st.altair_chart(
            charts.forest(
                pooled_records,
                order=[name for name in study.encoders if name in present],
                colours=charts.encoder_colours(study.encoders),
                axis=axis,
                title=gap_title,
            ),
            width="stretch",
            key="pooled",
            alt="The pooled language gap with its interval, one row an encoder",
        )
    for place, (panel, encoder) in enumerate(zip(panels[1:], study.encoders, strict=True)):
        with panel:
            text.heading(f"B. By agent, {encoder}")
            st.altair_chart(
                charts.forest(
                    [record for record in agent_records if record["encoder"] == encoder],
                    order=agents,
                    colours=charts.encoder_colours(study.encoders),
                    axis=axis,
                    title=gap_title,
                ),
                width="stretch",
                key=f"agents-{place}",
                alt="The language gap within each agent with its interval",
            )
    text.muted(
        f"A: mean over agents. B: the same paired difference within one agent, over its scoreable turns. Positive = "
        f"higher than {study.reference_name}. Bars: {study.interval_name}. "
        "A filled point: the interval excludes zero."
    )
    pooled_numbers, agent_numbers = st.columns(2)
    with pooled_numbers:
        exhibit.numbers(pooled, "pooled-gaps")
    with agent_numbers:
        exhibit.numbers(by_agent, "agent-gaps")

    contrasts = query("agent_contrasts", language=focal, **measure)
    with st.expander("Agent against agent: differences of their gaps"):
        st.html(
            text.table(
                [
                    {
                        "encoder": record["encoder"],
                        "pair": f"{record['agent']} {text.MINUS} {record['reference_agent']}",
                        "estimate": text.signed(record["estimate"]),
                        "interval": text.interval(record["ci_low"], record["ci_high"], record["interval_note"]),
                        "excludes": record["ci_excludes_zero"],
                        "n_motions": record["n_motions"],
                    }
                    for record in contrasts.records()
                ],
                {
                    "encoder": "Encoder",
                    "pair": "Agents",
                    "estimate": "Difference of gaps",
                    "interval": study.interval_name,
                    "excludes": "Excludes zero",
                    "n_motions": "Motions",
                },
                numbers=("estimate", "interval", "n_motions"),
            )
        )
        text.muted("Within motion. Positive = the first agent has the larger gap.")
    exhibit.numbers(contrasts, "agent-contrasts")

st.subheader("Turn by turn")
colours = charts.language_colours(tuple(study.languages))
names = {code: language.name for code, language in study.languages.items()}
for column, encoder in zip(st.columns(max(len(study.encoders), 2)), study.encoders, strict=False):
    with column:
        place = study.encoders.index(encoder)
        text.heading(encoder, level=4)
        trajectory = query("trajectories", encoder=encoder, **measure)
        st.altair_chart(
            charts.trajectories(
                trajectory.records(),
                focal=focal,
                reference=study.reference_language,
                colours=colours,
                names=names,
            ),
            width="stretch",
            key=f"trajectory-{place}",
            alt="Mean prior-argument similarity by turn, the focal and the reference language in colour",
        )
        exhibit.numbers(trajectory, f"trajectories-{place + 1}")
text.muted(
    "Each point is the mean over motions of a turn's mean similarity to the nearest earlier argument. It rises with "
    "the prior pool even when nothing is repeated, so compare languages at the same turn. Turn 1 has no "
    "earlier argument. Grey: the other languages."
)
unscored = query("unscored_turns", encoder=study.encoders[0], **measure) if study.encoders else None
missing = [record for record in unscored.records() if record["null_reason"] != "first_turn"] if unscored else []
if missing:
    with st.expander(f"Turns without a similarity, besides turn 1: {sum(record['turns'] for record in missing):,}"):
        st.html(
            text.table(
                missing,
                {"turn_index": "Turn", "language": "Language", "null_reason": "Reason", "turns": "Turns"},
                numbers=("turn_index", "turns"),
            )
        )
        exhibit.numbers(unscored, "unscored-turns")
