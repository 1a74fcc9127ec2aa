from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest import strict_json

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=12,
)


def reason_of(text: str) -> str | None:
    try:
        strict_json.loads(text)
    except strict_json.StrictJsonError as error:
        return error.reason
    return None


@settings(deadline=None)
@given(JSON_VALUES, st.booleans())
def test_json_written_by_python_is_read_back_unless_it_holds_a_nul(value, ascii_only) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    if "\\x00" in repr(value).replace("\\\\", ""):
        assert reason_of(text) == "nul_character"
    else:
        assert strict_json.loads(text) == value


@settings(deadline=None)
@given(JSON_VALUES.filter(lambda value: isinstance(value, dict | list | str)), st.data())
def test_every_beginning_of_a_value_is_truncated(value, data) -> None:
    text = json.dumps(value)
    cut = data.draw(st.integers(0, len(text) - 1))
    assert reason_of(text[:cut]) in ("truncated", "nul_character")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1, "a": 1}', "duplicate_keys"),
        ('{"a": {"b": 1, "b": 2}}', "duplicate_keys"),
        ('{"a": NaN}', "not_json"),
        ("-Infinity", "not_json"),
        ("1e999", "number_out_of_range"),
        ("9" * 5000, "number_out_of_range"),
        ("[" * 10_000, "too_deep"),
        ('{"a":' * 10_000, "too_deep"),
        ("[" * 65 + "]" * 65, "too_deep"),
        ('"\\ud800"', "lone_surrogate"),
        ('{"\\udc00": 1}', "lone_surrogate"),
        ('"\\u0000"', "nul_character"),
        ("1 2", "not_json"),
        ("[1,]", "not_json"),
        ("{'a': 1}", "not_json"),
        ('"a\nb"', "not_json"),
        ("\ufeff1", "not_json"),
        ('{"a": "he said "no" twice"}', "not_json"),
        ('{"a": tru', "truncated"),
        ('{"a": tri', "not_json"),
        ('{"a": "\\u12', "truncated"),
        ('{"a": "\\u12x4"}', "not_json"),
    ],
)
def test_what_two_readers_could_take_differently_is_refused(text: str, reason: str) -> None:
    assert reason_of(text) == reason


@pytest.mark.parametrize("text", ["[" * 64 + "]" * 64, "[" + "[]," * 500 + "[]]", '"\\\\u0000"', '"\\ud83d\\ude00"'])
def test_unusual_but_unambiguous_json_is_read(text: str) -> None:
    assert strict_json.loads(text) == json.loads(text)
