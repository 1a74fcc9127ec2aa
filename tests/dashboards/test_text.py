"""Text that models wrote becomes HTML in one place; these tests hold that place to it."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboards import text
from tests.dashboards.conftest import HOSTILE_TEXTS
from tests.dashboards.elements import read_html

CONTROLS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\x00\x07\x1b"


def spelled_out(value: str) -> str:
    return "".join(f"U+{ord(character):04X}" if character in CONTROLS else character for character in value)


@given(
    st.text(
        st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]) | st.sampled_from(CONTROLS + "<>&\"'\n"),
        min_size=1,
    )
)
def test_a_passage_shows_its_text_letter_by_letter_and_holds_no_other_markup(value: str):
    shown, tags = read_html(text.passage(value, "en", "ltr"))
    assert shown == spelled_out(value)
    assert {tag for tag, _ in tags} <= {"div", "span"}
    assert all(set(attributes) <= {"class", "lang", "dir"} for _, attributes in tags)


@pytest.mark.parametrize("value", HOSTILE_TEXTS)
def test_a_table_cell_shows_hostile_text_as_text(value: str):
    shown, tags = read_html(text.table([{"claim": value}], {"claim": "Claim"}))
    assert spelled_out(value) in shown
    assert {tag for tag, _ in tags} <= {"table", "thead", "tbody", "tr", "th", "td", "span"}


def test_an_arabic_passage_says_its_language_and_runs_right_to_left():
    _, tags = read_html(text.passage("نعم", "ar", "rtl"))
    assert tags[0][1]["lang"] == "ar"
    assert tags[0][1]["dir"] == "rtl"


def test_a_passage_without_text_is_an_em_dash():
    assert read_html(text.passage(None, "en", "ltr"))[0] == "—"
    assert read_html(text.passage("", "en", "ltr"))[0] == "—"


def test_a_language_code_cannot_leave_its_attribute():
    _, tags = read_html(text.passage("x", '"><script>', "ltr"))
    assert [tag for tag, _ in tags] == ["div"]


def test_a_label_is_one_line_with_overrides_spelled_out_and_isolated():
    assert text.label("safe\n\u202egnp.exe é") == "safe ⟨U+202E⟩gnp.exe é"
    assert text.label("نعم\u202e x") == "\u2066نعم⟨U+202E⟩ x\u2069"


def test_a_right_to_left_label_is_isolated_in_its_own_direction():
    assert text.label("نعم", "rtl") == "\u2067نعم\u2069"


def test_a_long_label_is_cut_visibly():
    assert text.label("a" * 50, limit=10) == "a" * 9 + "…"


def test_a_plain_latin_label_is_left_as_it_is():
    assert text.label("agent_a") == "agent_a"


def test_differences_carry_their_sign_and_missing_ones_an_em_dash():
    assert text.signed(0.04692) == "+0.0469"
    assert text.signed(-0.04692) == "−0.0469"
    assert text.signed(None) == "—"


def test_a_missing_interval_says_why():
    assert text.interval(None, None, "One motion cannot be resampled.") == "— One motion cannot be resampled."
    assert text.interval(-0.01, 0.02) == "[−0.0100, +0.0200]"


@pytest.mark.parametrize(
    ("elapsed", "shown"),
    [
        (timedelta(seconds=5), "less than a minute"),
        (timedelta(minutes=1), "1 minute"),
        (timedelta(hours=3, minutes=59), "3 hours"),
        (timedelta(days=12), "12 days"),
        (timedelta(seconds=-5), "less than a minute"),
    ],
)
def test_the_age_of_a_snapshot_is_told_in_one_unit(elapsed: timedelta, shown: str):
    assert text.age(elapsed) == shown


def test_a_grid_column_of_numbers_keeps_them_and_turns_not_a_number_into_nothing():
    assert text.cells([1, None, 2.5, float("nan"), float("inf")]) == [1, None, 2.5, None, None]


def test_a_grid_column_of_mixed_values_becomes_text():
    assert text.cells([1, "**x**", None, True, {"a": 1}]) == ["1", "**x**", None, "true", "{'a': 1}"]
