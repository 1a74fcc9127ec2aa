"""Figures 1 to 4 of the paper on this study's data: the charts of the pages, as one figure each, with their numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from dashboards import charts, text
from dashboards.study import AGGREGATES, Study
from dashboards.warehouse import Answer, Ask

PANEL_WIDTH = 230
# Said below a figure that may show them.
PUBLISHED = "Grey diamonds: the paper's values, where it has the same row."
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
    paper = _of_encoders(_named(published.records(), study), study)
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
        f"Bars: {study.interval_name}, dashed where motions are too few. Filled: the interval excludes zero. "
        f"{PUBLISHED}",
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
    paper_effects = ask("published_condition_effects", condition=condition)
    paper_gaps = ask(
        "published_gaps_by_condition", language=focal, baseline=study.baseline_condition, condition=condition
    )
    rows = _named(effects.records(), study)
    gap_rows = [{**record, "name": record["encoder"]} for record in gaps.records()]
    if not rows or not gap_rows:
        return None
    paper_rows = _of_encoders(_named(paper_effects.records(), study), study)
    paper_gap_rows = _of_encoders([{**row, "name": row["encoder"]} for row in paper_gaps.records()], study)
    axis = charts.domain(rows, paper_rows)
    colours = charts.encoder_colours(study.encoders)
    within = [
        charts.forest(
            [row for row in rows if row["encoder"] == encoder],
            order=[language.name for language in study.languages.values()],
            colours=colours,
            axis=axis,
            title="Change in similarity",
            published=[row for row in paper_rows if row["encoder"] == encoder],
        ).properties(title=f"A. {encoder}", width=PANEL_WIDTH)
        for encoder in study.encoders
    ]
    between = charts.conditions(
        gap_rows,
        order=study.encoders,
        baseline=study.baseline_condition,
        colours=colours,
        axis=charts.domain(gap_rows, paper_gap_rows),
        title=f"{study.language(focal).name} {text.MINUS} {study.reference_name}",
        published=paper_gap_rows,
    ).properties(
        title=f"B. The gap under {study.baseline_condition} (filled) and {condition} (open)", width=PANEL_WIDTH
    )
    return Figure(
        "figure_2",
        f"Figure 2. What the condition {condition} does within languages, and to the gap between them",
        f"A: {condition} {text.MINUS} {study.baseline_condition} within language; negative = later turns return less "
        f"to earlier arguments. B: the gap {study.language(focal).name} {text.MINUS} {study.reference_name} under "
        f"both. Bars: {study.interval_name}. {PUBLISHED}",
        alt.vconcat(_beside(within), between),
        (effects, gaps, paper_effects, paper_gaps),
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
    paper_pooled, paper_by_agent = ask("published_language_gaps"), ask("published_agent_gaps", language=focal)
    paper_pooled_rows = _of_encoders(
        [{**row, "name": row["encoder"]} for row in paper_pooled.records() if row["language"] == focal], study
    )
    agents = list(dict.fromkeys(row["name"] for row in rows))
    paper_rows = [
        {**row, "name": row["agent"]} for row in _of_encoders(paper_by_agent.records(), study) if row["agent"] in agents
    ]
    axis = charts.domain(pooled_rows, rows, paper_pooled_rows, paper_rows)
    colours = charts.encoder_colours(study.encoders)
    title = f"{study.language(focal).name} {text.MINUS} {study.reference_name}"
    present = {row["name"] for row in pooled_rows}
    first = charts.forest(
        pooled_rows,
        order=[name for name in study.encoders if name in present],
        colours=colours,
        axis=axis,
        title=title,
        published=paper_pooled_rows,
    ).properties(title="A. All agents", width=PANEL_WIDTH)
    others = [
        charts.forest(
            [row for row in rows if row["encoder"] == encoder],
            order=agents,
            colours=colours,
            axis=axis,
            title=title,
            published=[row for row in paper_rows if row["encoder"] == encoder],
        ).properties(title=f"B. {encoder}", width=PANEL_WIDTH)
        for encoder in (study.encoders if agents else ())
    ]
    return Figure(
        "figure_3",
        f"Figure 3. The gap {title} across encoders and agents",
        f"A: mean over agents. B: the same paired difference within one agent. Bars: {study.interval_name}. Filled: "
        f"the interval excludes zero. {PUBLISHED}",
        _beside([first, *others]),
        (pooled, by_agent, paper_pooled, paper_by_agent),
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
    """The rows of the study's languages, which the paper's need not be, under the language's name."""
    named = study.languages
    return [{**record, "name": named[record["language"]].name} for record in records if record["language"] in named]


def _of_encoders(published: Sequence[Mapping[str, Any]], study: Study) -> list[Mapping[str, Any]]:
    """The published values of the encoders that this study has too."""
    return [row for row in published if row["encoder"] in study.encoders]
