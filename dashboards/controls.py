"""Selectors that pages share. Their choices live in the URL, so a link opens the page as its sender saw it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboards.study import AGGREGATES, FIELDS, Study
from dashboards.text import label


@dataclass(frozen=True)
class Selection:
    """How the measure on a page is taken; the names are the warehouse's columns."""

    condition: str
    extractor: str
    field: str
    variant: str
    aggregate: str


def choose(
    title: str,
    options: Sequence[str],
    key: str,
    *,
    default: str | None = None,
    show: Callable[[str], str] = label,
    help: str | None = None,
) -> str:
    """One of `options`, kept in the URL under `key`. A single option is taken without asking."""
    if len(options) == 1:
        return options[0]
    index = options.index(default) if default in options else 0
    return st.selectbox(title, options, index=index, key=key, format_func=show, help=help, bind="query-params")


def measure_selection(
    study: Study, columns: Iterator[DeltaGenerator], *, condition: bool = True, aggregate: bool = True
) -> Selection:
    """The selectors above a figure of estimates, one in each of `columns`, only where there is something to choose."""

    def choose_next(title: str, options: Sequence[str], key: str, show: Callable[[str], str] = label) -> str:
        if len(options) == 1:
            return options[0]
        with next(columns):
            return choose(title, options, key, show=show)

    return Selection(
        condition=choose_next("Condition", study.conditions, "condition") if condition else study.baseline_condition,
        field=choose_next("Field that is embedded", study.fields, "field", lambda name: FIELDS.get(name, label(name))),
        aggregate=choose_next("Aggregate", tuple(AGGREGATES), "aggregate", AGGREGATES.__getitem__)
        if aggregate
        else "agent_mean",
        variant=choose_next("Variant", study.variants, "variant"),
        extractor=choose_next("Extractor", study.extractors, "extractor"),
    )
