"""Figures 1 to 4 of the paper on this study's data: the charts of the pages, as one figure each, with their numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from dashboards import charts, text
from dashboards.study import AGGREGATES, Study
from dashboards.warehouse import Answer, Ask

PANEL_WIDTH = 230
MEASURE = {"field": "claim", "variant": "raw"}
AGGREGATE = "agent_mean"


@dataclass(frozen=True)
class Figure:
    """A figure: its chart, what it shows in words, and the answers whose rows it draws."""

    name: str
    title: str
    caption: str
    chart: alt.TopLevelMixin
    answers: tuple[Answer, ...]


def figures(ask: Ask, study: Study) -> list[Figure]:
    """The figures that the warehouse has data for: claims, plain measure, primary extractor, mean over agents."""
    made = (_language_gaps(ask, study), _condition_effects(ask, study), _agents(ask, study), _turns(ask, study))
    return [figure for figure in made if figure is not None]


def _measure(study: Study) -> dict[str, str]:
    return {**MEASURE, "extractor": study.extractors[0]}


def _language_gaps(ask: Ask, study: Study) -> Figure | None:
    answer = ask("language_gaps", condition=study.baseline_condition, aggregate=AGGREGATE, **_measure(study))
    published = ask("published_language_gaps")
    rows = _named(answer.records(), study)
    paper = [row for row in _named(published.records(), study) if row["estimate"] is not None]
    if not rows:
        return None
    axis = charts.domain(rows, paper)
    order = [study.language(code).name for code in study.other_languages]
    panels = [
        charts.forest(
            [row for row in rows if row["encoder"] == encoder],
            order=order,
            colours=charts.encoder_colours(study.encoders),
            axis=axis,
            title=f"Gap to {study.reference_name}",
            published=[row for row in paper if row["encoder"] == encoder],
        ).properties(title=encoder, width=PANEL_WIDTH)
        for encoder in study.encoders
    ]
    return Figure(
        "figure_1",
        f"Figure 1. Prior-argument-similarity gaps to {study.reference_name}",
        f"Points: mean over motions of the paired difference ({AGGREGATES[AGGREGATE]}, {study.baseline_condition}). "
        f"Bars: {study.interval_name}, dashed where motions are too few. Filled: the interval excludes zero. Grey "
        "diamonds: the paper's values for the same encoder, where it has it.",
        _beside(panels),
        (answer, published),
    )


def _condition_effects(ask: Ask, study: Study) -> Figure | None:
    focal = study.focal_language
    if not study.other_conditions or focal is None:
        return None
    condition = study.other_conditions[0]
    measure = {**_measure(study), "aggregate": AGGREGATE}
    effects = ask("condition_effects", condition=condition, **measure)
    gaps = ask("gaps_by_condition", language=focal, baseline=study.baseline_condition, condition=condition, **measure)
    rows = _named(effects.records(), study)
    gap_rows = [{**record, "name": record["encoder"]} for record in gaps.records()]
    if not rows or not gap_rows:
        return None
    axis = charts.domain(rows)
    colours = charts.encoder_colours(study.encoders)
    within = [
        charts.forest(
            [row for row in rows if row["encoder"] == encoder],
            order=[language.name for language in study.languages.values()],
            colours=colours,
            axis=axis,
            title="Change in similarity",
        ).properties(title=f"A. {encoder}", width=PANEL_WIDTH)
        for encoder in study.encoders
    ]
    between = charts.conditions(
        gap_rows,
        order=study.encoders,
        baseline=study.baseline_condition,
        colours=colours,
        axis=charts.domain(gap_rows),
        title=f"{study.language(focal).name} {text.MINUS} {study.reference_name}",
    ).properties(
        title=f"B. The gap under {study.baseline_condition} (filled) and {condition} (open)", width=PANEL_WIDTH
    )
    return Figure(
        "figure_2",
        f"Figure 2. What the condition {condition} does within languages, and to the gap between them",
        f"A: {condition} {text.MINUS} {study.baseline_condition} within language; negative = later turns return less "
        f"to earlier arguments. B: the gap {study.language(focal).name} {text.MINUS} {study.reference_name} under "
        f"both. Bars: {study.interval_name}.",
        alt.vconcat(_beside(within), between),
        (effects, gaps),
    )


def _agents(ask: Ask, study: Study) -> Figure | None:
    focal = study.focal_language
    if focal is None:
        return None
    measure = {**_measure(study), "condition": study.baseline_condition, "language": focal}
    pooled, by_agent = ask("pooled_gaps", **measure), ask("agent_gaps", **measure)
    pooled_rows = [{**record, "name": record["encoder"]} for record in pooled.records()]
    rows = [{**record, "name": record["agent"]} for record in by_agent.records()]
    if not pooled_rows:
        return None
    axis = charts.domain(pooled_rows, rows)
    colours = charts.encoder_colours(study.encoders)
    title = f"{study.language(focal).name} {text.MINUS} {study.reference_name}"
    present = {row["name"] for row in pooled_rows}
    first = charts.forest(
        pooled_rows,
        order=[name for name in study.encoders if name in present],
        colours=colours,
        axis=axis,
        title=title,
    ).properties(title="A. All agents", width=PANEL_WIDTH)
    agents = list(dict.fromkeys(row["name"] for row in rows))
    others = [
        charts.forest(
            [row for row in rows if row["encoder"] == encoder], order=agents, colours=colours, axis=axis, title=title
        ).properties(title=f"B. {encoder}", width=PANEL_WIDTH)
        for encoder in (study.encoders if agents else ())
    ]
    return Figure(
        "figure_3",
        f"Figure 3. The gap {title} across encoders and agents",
        f"A: mean over agents. B: the same paired difference within one agent. Bars: {study.interval_name}. Filled: "
        "the interval excludes zero.",
        _beside([first, *others]),
        (pooled, by_agent),
    )


def _turns(ask: Ask, study: Study) -> Figure | None:
    answers = [
        ask("trajectories", condition=study.baseline_condition, encoder=encoder, **_measure(study))
        for encoder in study.encoders
    ]
    names = {code: language.name for code, language in study.languages.items()}
    panels = [
        charts.trajectories(
            answer.records(),
            focal=study.focal_language or study.reference_language,
            reference=study.reference_language,
            colours=charts.language_colours(tuple(study.languages)),
            names=names,
        ).properties(title=encoder, width=1.5 * PANEL_WIDTH)
        for encoder, answer in zip(study.encoders, answers, strict=True)
        if answer.rows
    ]
    if not panels:
        return None
    return Figure(
        "figure_4",
        "Figure 4. Prior-argument similarity by turn",
        "Each point: mean over motions of a turn's mean similarity to the nearest earlier argument. It rises with the "
        "prior pool even when nothing is repeated, so compare languages at the same turn. Grey: the other languages.",
        _beside(panels),
        tuple(answers),
    )


def _beside(panels: Sequence[Any]) -> alt.ConcatChart:
    return alt.concat(*panels, columns=3).resolve_scale(color="shared")


def _named(records: Sequence[Mapping[str, Any]], study: Study) -> list[dict[str, Any]]:
    return [{**record, "name": study.language(record["language"]).name} for record in records if record["language"]]
