"""Charts as pure functions: rows of a query in, an Altair chart out. Colours mean the same on every page."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import altair as alt
import pyarrow as pa

from dashboards.text import fixed, interval, label, signed

ENCODER_COLOURS = {
    "bge-m3": "#1f5f8b",
    "multilingual-e5-large": "#b5541c",
    "labse": "#3f7d3a",
    "multilingual-e5-small": "#c07a1f",
    "use-multilingual-v3": "#6b4c9a",
}
LANGUAGE_COLOURS = {
    "en": "#3d3d3d",
    "ar": "#1b7837",
    "es": "#d08a00",
    "fr": "#2166ac",
    "ru": "#762a83",
    "zh": "#c0392b",
}
OTHER_COLOURS = ("#00798c", "#8c5e00", "#7a3b69", "#4b6a2f", "#5b5f97", "#a23b3b")
PUBLISHED_COLOUR = "#8a94a0"
CONTEXT_COLOUR = "#b4bac1"
ZERO_COLOUR = "#9aa1a9"

# Streamlit fits the axis and its title into the height that is given.
ROW_HEIGHT = 28
AXIS_HEIGHT = 72
FIGURE_HEIGHT = 330
# Of a legend of many kinds, in rows of four.
LEGEND_HEIGHT = 110
RANKED_HEIGHT = 220


def encoder_colours(encoders: Sequence[str]) -> dict[str, str]:
    """The colour of each encoder; those that the list above does not know take the free colours in their order."""
    return _colours(encoders, ENCODER_COLOURS)


def language_colours(languages: Sequence[str]) -> dict[str, str]:
    return _colours(languages, LANGUAGE_COLOURS)


def _colours(names: Sequence[str], known: Mapping[str, str]) -> dict[str, str]:
    others = [name for name in names if name not in known]
    return {name: known.get(name) or OTHER_COLOURS[others.index(name) % len(OTHER_COLOURS)] for name in names}


def domain(*groups: Iterable[Mapping[str, Any]]) -> tuple[float, float]:
    """The shared axis of several panels: all estimates, interval ends and zero, with a margin."""
    ends = [0.0]
    for record in (record for group in groups for record in group):
        ends += [record[key] for key in ("estimate", "ci_low", "ci_high") if record.get(key) is not None]
    margin = 0.06 * (max(ends) - min(ends)) or 0.01
    return min(ends) - margin, max(ends) + margin


def forest(
    rows: Sequence[Mapping[str, Any]],
    *,
    order: Sequence[str],
    colours: Mapping[str, str],
    axis: tuple[float, float],
    title: str,
    published: Sequence[Mapping[str, Any]] = (),
) -> alt.LayerChart:
    """Estimates with their intervals, one row a `name`: filled points where the interval excludes zero.

    `colours` gives each row's by its encoder. Intervals from too few motions are dashed. `published` values lie beneath
    as grey diamonds.
    """
    names = [label(name) for name in order]
    y = alt.Y("name:N", sort=names, title=None, scale=alt.Scale(domain=names), axis=alt.Axis(labelLimit=180))
    values = [
        {
            **_forest_row(row),
            "colour": colours[row["encoder"]],
            "fill": colours[row["encoder"]] if row["ci_excludes_zero"] else "white",
        }
        for row in rows
    ]
    base = alt.Chart(alt.Data(values=values)).encode(
        y=y, tooltip=_tooltips("name", "estimate_text", "interval_text", "n_motions")
    )
    points = base.mark_point(size=75, strokeWidth=1.8, opacity=1).encode(
        x=alt.X("estimate:Q", title=title, scale=alt.Scale(domain=list(axis), nice=False), axis=_signed_axis()),
        stroke=alt.Stroke("colour:N", scale=None),
        fill=alt.Fill("fill:N", scale=None),
    )
    bars = _interval_bars(base, title).encode(stroke=alt.Stroke("colour:N", scale=None))
    layers = [_zero_line(title), *_published_layers(published, names, title, y=y)]
    return alt.layer(*layers, bars, points).properties(height=len(names) * ROW_HEIGHT + AXIS_HEIGHT)


def conditions(
    rows: Sequence[Mapping[str, Any]],
    *,
    order: Sequence[str],
    baseline: str,
    colours: Mapping[str, str],
    axis: tuple[float, float],
    title: str,
    published: Sequence[Mapping[str, Any]] = (),
) -> alt.LayerChart:
    """The gap under two conditions, one pair of rows an encoder: filled for the baseline, open for the other.

    `published` values lie beneath as grey diamonds.
    """
    names = [label(name) for name in order]

    def row_of(row: Mapping[str, Any]) -> dict[str, Any]:
        return {"condition": label(row["condition"]), "is_baseline": row["condition"] == baseline}

    values = [
        {
            **_forest_row(row),
            **row_of(row),
            "colour": colours[row["encoder"]],
            "fill": colours[row["encoder"]] if row["condition"] == baseline else "white",
        }
        for row in rows
    ]
    place = {
        "y": alt.Y("name:N", sort=names, title=None, scale=alt.Scale(domain=names), axis=alt.Axis(labelLimit=180)),
        "yOffset": alt.YOffset(
            "is_baseline:N", sort=[True, False], scale=alt.Scale(paddingInner=0.5, paddingOuter=0.5)
        ),
    }
    base = alt.Chart(alt.Data(values=values)).encode(
        **place,
        stroke=alt.Stroke("colour:N", scale=None),
        tooltip=_tooltips("name", "condition", "estimate_text", "interval_text", "n_motions"),
    )
    points = base.mark_point(size=80, strokeWidth=2, opacity=1).encode(
        x=alt.X("estimate:Q", title=title, scale=alt.Scale(domain=list(axis), nice=False), axis=_signed_axis()),
        fill=alt.Fill("fill:N", scale=None),
    )
    beneath = _published_layers(published, names, title, row_of, **place)
    return alt.layer(_zero_line(title), *beneath, _interval_bars(base, title), points).properties(
        height=len(names) * 1.8 * ROW_HEIGHT + AXIS_HEIGHT
    )


def trajectories(
    rows: Sequence[Mapping[str, Any]],
    *,
    focal: str,
    reference: str,
    colours: Mapping[str, str],
    names: Mapping[str, str],
    title: str = "Mean prior-argument similarity",
    counted: str = "Motions",
) -> alt.LayerChart:
    """Mean similarity by turn: the focal and the reference language in colour, the other languages in grey.

    `title` names the axis of means; `counted` says what `n_motions`, the number behind a mean, counts.
    """
    values = [
        {
            "language": names[row["language"]],
            "turn": row["turn_index"],
            "mean": row["mean_similarity"],
            "mean_text": fixed(row["mean_similarity"], 4),
            "n_motions": row["n_motions"],
            "in_focus": row["language"] in (focal, reference),
        }
        for row in rows
        if row["mean_similarity"] is not None
    ]
    shown = list(dict.fromkeys([focal, reference]))
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("turn:O", title="Turn", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("mean:Q", title=title, scale=alt.Scale(zero=False)),
        detail="language:N",
        tooltip=[
            alt.Tooltip("language:N", title="Language"),
            alt.Tooltip("turn:O", title="Turn"),
            alt.Tooltip("mean_text:N", title="Mean similarity"),
            alt.Tooltip("n_motions:Q", title=counted),
        ],
    )
    context = base.transform_filter("!datum.in_focus").mark_line(
        color=CONTEXT_COLOUR, strokeWidth=1.3, point={"size": 18, "color": CONTEXT_COLOUR}
    )
    focus = (
        base.transform_filter("datum.in_focus")
        .mark_line(strokeWidth=2.6, point={"size": 55})
        .encode(
            color=alt.Color(
                "language:N",
                title=None,
                scale=alt.Scale(domain=[names[code] for code in shown], range=[colours[code] for code in shown]),
                legend=alt.Legend(orient="top"),
            )
        )
    )
    return alt.layer(context, focus).properties(height=FIGURE_HEIGHT)


def ranked(
    rows: Sequence[Mapping[str, Any]], *, summary: Mapping[str, Any], colour: str, axis: tuple[float, float]
) -> alt.LayerChart:
    """One stem a motion by its `rank`, with the `summary` estimate as a line and its interval as a band."""
    # Altair checks inline values one by one, which takes seconds for thousands of motions; a table it takes as it is.
    values = pa.table(
        {
            "motion": [label(row["motion_id"]) for row in rows],
            "rank": [row["rank"] for row in rows],
            "difference": [row["difference"] for row in rows],
            "difference_text": [signed(row["difference"]) for row in rows],
        }
    )
    vertical = alt.Y("difference:Q", title="Difference", scale=alt.Scale(domain=list(axis), nice=False))
    stems = alt.Chart(values).encode(
        x=alt.X(
            "rank:Q",
            title="Motions, lowest difference first",
            scale=alt.Scale(domain=[0, len(rows) + 1], nice=False),
            axis=alt.Axis(tickMinStep=1, grid=False),
        ),
        y=vertical.axis(_signed_axis()),
        tooltip=[
            alt.Tooltip("motion:N", title="Motion"),
            alt.Tooltip("difference_text:N", title="Difference"),
            alt.Tooltip("rank:Q", title="Rank"),
        ],
    )
    zero = alt.Chart(alt.Data(values=[{"difference": 0}])).mark_rule(color=ZERO_COLOUR).encode(y=vertical)
    mean = alt.Chart(
        alt.Data(values=[{"difference": summary["estimate"], "low": summary["ci_low"], "high": summary["ci_high"]}])
    )
    band = (
        mean.transform_filter("datum.low !== null")
        .mark_rect(color=colour, opacity=0.15)
        .encode(y=alt.Y("low:Q", title="Difference"), y2="high:Q")
    )
    line = mean.mark_rule(color=colour, strokeWidth=1.5).encode(y=vertical)
    points = stems.mark_point(filled=True, size=28, color=colour, opacity=1)
    rules = stems.mark_rule(color=colour, strokeWidth=1, opacity=0.6).encode(y2=alt.datum(0))
    return alt.layer(band, zero, line, rules, points).properties(height=RANKED_HEIGHT)


def histogram(
    rows: Sequence[Mapping[str, Any]],
    *,
    thresholds: Mapping[str, float],
    width: float,
    order: Sequence[str],
    colours: Mapping[str, str],
    names: Mapping[str, str],
) -> alt.LayerChart:
    """The share of each language's arguments by similarity, as steps, with the tail thresholds as rules."""
    values = [
        {
            "language": names[row["language"]],
            "low": row["bin_low"],
            "share": row["share"],
            "bin_text": f"{fixed(row['bin_low'], 2)} to {fixed(row['bin_low'] + width, 2)}",
            "share_text": f"{row['share']:.2%}",
            "n_arguments": row["n_arguments"],
        }
        for row in rows
    ]
    steps = (
        alt.Chart(alt.Data(values=values))
        .mark_line(interpolate="step-after", strokeWidth=1.8)
        .encode(
            x=alt.X("low:Q", title="Similarity to the nearest earlier argument", scale=alt.Scale(zero=False)),
            y=alt.Y("share:Q", title="Share of the language's arguments", axis=alt.Axis(format=".0%")),
            color=alt.Color(
                "language:N",
                title=None,
                scale=alt.Scale(domain=[names[code] for code in order], range=[colours[code] for code in order]),
                legend=alt.Legend(orient="top"),
            ),
            tooltip=[
                alt.Tooltip("language:N", title="Language"),
                alt.Tooltip("bin_text:N", title="Similarity"),
                alt.Tooltip("share_text:N", title="Share"),
                alt.Tooltip("n_arguments:Q", title="Arguments"),
            ],
        )
    )
    marks = alt.Chart(
        alt.Data(values=[{"at": at, "name": name, "row": row} for row, (name, at) in enumerate(thresholds.items())])
    ).encode(x=alt.X("at:Q"))
    rules = marks.mark_rule(color=ZERO_COLOUR, strokeDash=[4, 3])
    # One below the other, because the tail thresholds lie close together.
    words = marks.mark_text(align="left", dx=3, color="#6b7480", fontSize=11).encode(
        text="name:N", y=alt.Y("row:Q", scale=alt.Scale(domain=[-0.6, 18], reverse=True), axis=None)
    )
    return alt.layer(steps, rules, words).resolve_scale(y="independent").properties(height=FIGURE_HEIGHT)


def compared(rows: Sequence[Mapping[str, Any]]) -> alt.LayerChart:
    """Published values against ours, with the line on which they are equal."""
    values = [
        {
            "name": label(row["name"]),
            "ours": row["estimate"],
            "published": row["published_estimate"],
            "ours_text": signed(row["estimate"]),
            "published_text": signed(row["published_estimate"]),
        }
        for row in rows
    ]
    ends = [value[side] for value in values for side in ("ours", "published")]
    line = alt.Chart(alt.Data(values=[{"published": end, "ours": end} for end in (min(ends), max(ends))]))
    x = alt.X("published:Q", title="Published", scale=alt.Scale(zero=False))
    y = alt.Y("ours:Q", title="Ours", scale=alt.Scale(zero=False))
    points = (
        alt.Chart(alt.Data(values=values))
        .mark_point(filled=True, size=45, opacity=0.65, color=ENCODER_COLOURS["bge-m3"])
        .encode(
            x=x,
            y=y,
            tooltip=[
                alt.Tooltip("name:N", title="Cell"),
                alt.Tooltip("ours_text:N", title="Ours"),
                alt.Tooltip("published_text:N", title="Published"),
            ],
        )
    )
    return alt.layer(line.mark_line(color=ZERO_COLOUR).encode(x=x, y=y), points).properties(height=FIGURE_HEIGHT)


def shares(rows: Sequence[Mapping[str, Any]], *, order: Sequence[str], title: str) -> alt.Chart:
    """One stacked bar a `group`: the `share` of each `part`."""
    names = [label(name) for name in order]
    values = [
        {
            "group": label(row["group"]),
            "part": label(row["part"]),
            "share": row["share"],
            "share_text": f"{row['share']:.1%}",
        }
        for row in rows
    ]
    present = [name for name in names if any(value["group"] == name for value in values)]
    return (
        alt.Chart(alt.Data(values=values))
        .mark_bar()
        .encode(
            x=alt.X("share:Q", title=title, stack="zero", axis=alt.Axis(format=".0%")),
            y=alt.Y("group:N", sort=present, title=None, scale=alt.Scale(domain=present)),
            color=alt.Color("part:N", title=None, legend=alt.Legend(orient="top", columns=4, labelLimit=260)),
            order=alt.Order("part:N"),
            tooltip=[
                alt.Tooltip("group:N", title="Language"),
                alt.Tooltip("part:N", title="Kind"),
                alt.Tooltip("share_text:N", title="Share"),
            ],
        )
        .properties(height=len(present) * ROW_HEIGHT + AXIS_HEIGHT + LEGEND_HEIGHT)
    )


def calibration_curve(rows: Sequence[Mapping[str, Any]], *, colours: Mapping[str, str]) -> alt.LayerChart:
    """The rate of repetition by fifth of similarity, one line an encoder, with intervals."""
    encoders = list(dict.fromkeys(row["encoder"] for row in rows))
    values = [
        {
            "encoder": label(row["encoder"]),
            "bin": row["bin"],
            "rate": row["estimate"],
            "ci_low": row["ci_low"],
            "ci_high": row["ci_high"],
            "rate_text": f"{row['estimate']:.1%}",
            "bin_text": f"{fixed(row['bin_low'])} to {fixed(row['bin_high'])}",
            "n_labelled": row["n_labelled"],
        }
        for row in rows
    ]
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("bin:O", title="Fifth of similarity, lowest first", axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("encoder:N"),
        color=alt.Color(
            "encoder:N",
            title=None,
            scale=alt.Scale(domain=[label(name) for name in encoders], range=[colours[name] for name in encoders]),
            legend=alt.Legend(orient="top"),
        ),
        tooltip=[
            alt.Tooltip("encoder:N", title="Encoder"),
            alt.Tooltip("bin_text:N", title="Similarity"),
            alt.Tooltip("rate_text:N", title="Repeated"),
            alt.Tooltip("n_labelled:Q", title="Labelled pairs"),
        ],
    )
    rate = alt.Y("rate:Q", title="Share called repeated", axis=alt.Axis(format=".0%"))
    bars = (
        base.transform_filter("datum.ci_low !== null")
        .mark_rule(strokeWidth=1.6)
        .encode(y=alt.Y("ci_low:Q", title="Share called repeated"), y2="ci_high:Q")
    )
    points = base.mark_point(filled=True, size=70, opacity=1).encode(y=rate)
    return alt.layer(bars, points).properties(height=FIGURE_HEIGHT)


def _forest_row(row: Mapping[str, Any]) -> dict[str, Any]:
    low, high = row.get("ci_low"), row.get("ci_high")
    return {
        "name": label(row["name"]),
        "estimate": row["estimate"],
        "ci_low": low,
        "ci_high": high,
        "few": row.get("interval_status") == "too_few_clusters",
        "n_motions": row.get("n_motions"),
        "estimate_text": signed(row["estimate"]),
        "interval_text": interval(low, high, row.get("interval_note")),
    }


def _published_layers(
    rows: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    title: str,
    more: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda row: {},
    **place: Any,
) -> list[alt.Chart]:
    """Grey diamonds and bars for the published values of rows that the chart has; `more` says what else places one."""
    values = [value for value in ({**_forest_row(row), **more(row)} for row in rows) if value["name"] in names]
    if not values:
        return []
    under = alt.Chart(alt.Data(values=values)).encode(
        **place, tooltip=_tooltips("name", "estimate_text", "interval_text", published=True)
    )
    bars = (
        under.transform_filter("datum.ci_low !== null")
        .mark_rule(color=PUBLISHED_COLOUR, strokeWidth=5, opacity=0.4)
        .encode(x=alt.X("ci_low:Q", title=title), x2="ci_high:Q")
    )
    points = under.mark_point(shape="diamond", size=110, filled=True, color=PUBLISHED_COLOUR, opacity=0.75).encode(
        x=alt.X("estimate:Q", title=title)
    )
    return [bars, points]


def _zero_line(title: str) -> alt.Chart:
    zero = alt.Chart(alt.Data(values=[{"zero": 0}]))
    return zero.mark_rule(color=ZERO_COLOUR).encode(x=alt.X("zero:Q", title=title))


def _interval_bars(base: alt.Chart, title: str) -> alt.Chart:
    return (
        base.transform_filter("datum.ci_low !== null")
        .mark_rule(strokeWidth=2)
        .encode(
            x=alt.X("ci_low:Q", title=title),
            x2="ci_high:Q",
            strokeDash=alt.condition("datum.few", alt.value([3, 3]), alt.value([1, 0])),
        )
    )


def _signed_axis() -> alt.Axis:
    return alt.Axis(labelExpr="datum.value == 0 ? '0' : format(datum.value, '+.3~f')", tickCount=5)


def _tooltips(*names: str, published: bool = False) -> list[alt.Tooltip]:
    prefix = "Published " if published else ""
    titles = {
        "name": "Row",
        "condition": "Condition",
        "estimate_text": f"{prefix}estimate".capitalize(),
        "interval_text": f"{prefix}interval".capitalize(),
        "n_motions": "Motions",
    }
    return [alt.Tooltip(f"{name}:{'Q' if name == 'n_motions' else 'N'}", title=titles[name]) for name in names]
