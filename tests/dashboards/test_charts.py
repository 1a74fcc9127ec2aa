from typing import Any

import pytest

from dashboards import charts

COLOURS = charts.encoder_colours(["labse", "new-encoder"])


def estimate(**changes: Any) -> dict[str, Any]:
    return {
        "name": "Chinese",
        "encoder": "labse",
        "estimate": 0.04,
        "ci_low": 0.03,
        "ci_high": 0.05,
        "ci_excludes_zero": True,
        "n_motions": 71,
        "interval_status": "ok",
        "interval_note": None,
        **changes,
    }


def rows_of(chart) -> list[dict[str, Any]]:
    """The inline rows of a chart; layers that share their data have it in the chart itself."""
    specification = chart.to_dict()
    layers = [specification, *specification["layer"]]
    return [row for layer in layers for row in layer.get("data", {}).get("values", [])]


def estimates_of(chart) -> list[dict[str, Any]]:
    return [row for row in rows_of(chart) if "estimate" in row]


def fills(chart) -> set[str]:
    return {row["fill"] for row in estimates_of(chart)}


def forest(*rows: dict[str, Any]):
    return charts.forest(rows, order=["Chinese"], colours=COLOURS, axis=charts.domain(rows), title="Gap")


def test_a_point_is_filled_only_when_its_interval_excludes_zero():
    assert fills(forest(estimate())) == {charts.ENCODER_COLOURS["labse"]}
    assert fills(forest(estimate(ci_excludes_zero=False))) == {"white"}
    assert fills(forest(estimate(ci_excludes_zero=None))) == {"white"}


def test_an_interval_from_too_few_motions_is_marked():
    assert all(row["few"] for row in estimates_of(forest(estimate(interval_status="too_few_clusters", n_motions=10))))
    assert not any(row["few"] for row in estimates_of(forest(estimate())))


def test_an_estimate_without_an_interval_is_drawn_and_says_why():
    alone = estimate(ci_low=None, ci_high=None, interval_status="no_interval", interval_note="One motion.")
    row = estimates_of(forest(alone))[0]
    assert row["ci_low"] is None
    assert row["interval_text"] == "— One motion."


def test_panels_share_an_axis_that_holds_every_interval_and_zero():
    low, high = charts.domain([estimate()], [estimate(ci_low=-0.2, estimate=-0.1, ci_high=-0.05)], [])
    assert low < -0.2
    assert high > 0.05
    assert charts.domain([]) == (-0.01, 0.01)


def test_an_unknown_encoder_gets_a_colour_of_its_own():
    colours = charts.encoder_colours(["labse", "x", "y"])
    assert len(set(colours.values())) == 3
    assert colours["labse"] == charts.ENCODER_COLOURS["labse"]


def published_of(chart) -> list[dict[str, Any]]:
    """The rows of grey diamonds."""
    layers = [layer for layer in chart.to_dict()["layer"] if layer["mark"].get("shape") == "diamond"]
    return [row for layer in layers for row in layer["data"]["values"]]


def test_published_values_lie_only_under_rows_that_the_chart_has():
    paper = [estimate(name="Chinese", estimate=0.047), estimate(name="French", estimate=-0.018)]
    chart = charts.forest([estimate()], order=["Chinese"], colours=COLOURS, axis=(-1, 1), title="Gap", published=paper)
    assert [(row["name"], row["estimate"]) for row in published_of(chart)] == [("Chinese", 0.047)]
    assert published_of(forest(estimate())) == []


def test_a_published_gap_lies_under_the_gap_of_its_condition():
    chart = charts.conditions(
        [estimate(name="labse", condition=name) for name in ("baseline", "diversity")],
        order=["labse"],
        baseline="baseline",
        colours=COLOURS,
        axis=(-1, 1),
        title="Gap",
        published=[
            estimate(name="labse", condition="baseline", estimate=0.047),
            estimate(name="labse", condition="diversity", estimate=0.037),
        ],
    )
    assert [(row["is_baseline"], row["estimate"]) for row in published_of(chart)] == [(True, 0.047), (False, 0.037)]


@pytest.mark.parametrize("focal", ["zh", "ar"])
def test_the_focal_and_the_reference_language_stand_out_from_the_others(focal: str):
    languages = ("en", "ar", "zh")
    rows = [
        {"language": code, "turn_index": turn, "mean_similarity": 0.5, "n_motions": 10}
        for code in languages
        for turn in (2, 3)
    ]
    unscored = {"language": "en", "turn_index": 1, "mean_similarity": None, "n_motions": 0}
    chart = charts.trajectories(
        [*rows, unscored],
        focal=focal,
        reference="en",
        colours=charts.language_colours(languages),
        names={code: code for code in languages},
    )
    shown = rows_of(chart)
    assert {row["language"] for row in shown if row["in_focus"]} == {"en", focal}
    assert {row["turn"] for row in shown} == {2, 3}
