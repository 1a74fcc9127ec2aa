from __future__ import annotations

import json
import re
import string
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ingest.parse.extractor_answer import FAILURE_REASONS, TEXT_FIELDS, Failed, Label, Parsed, Unit, parse_answer
from tests.ingest.archives import answer

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "extractor_responses.jsonl").read_bytes().split(b"\n")
    if line
]

UNIT = '{"claim": "A", "warrant": "B", "evidence_or_example": "", "argument_type": "moral"}'
OBJECT = f'{{"arguments": [{UNIT}]}}'


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_each_listed_case_has_its_listed_outcome(case: dict) -> None:
    outcome = parse_answer(case["raw_response"])
    if case["expect"] == "parsed":
        assert isinstance(outcome, Parsed)
        assert len(outcome.units) == case["n_arguments"]
        assert outcome.labels == ((case["label"],) if case["label"] else ())
    else:
        assert outcome == Failed(case["label"])


@pytest.mark.parametrize(
    ("raw", "labels"),
    [
        (f" \n{OBJECT}\t\u00a0", ()),
        (f"\ufeff```json\n{OBJECT}\n```", ("bom", "fence")),
        (
            f"<think>{{}} ``` [</think>\nSure:\n```\n{OBJECT}\n```\nDone.",
            ("reasoning_block", "fence", "surrounding_text"),
        ),
        (f"<THINKING>a</thinking>{OBJECT}", ("reasoning_block",)),
        (f"```JSON\r\n{OBJECT}\r\n```", ("fence",)),
        (f"```{OBJECT}```", ("fence",)),
        (f"```json\n[{UNIT}]\n```", ("fence", "bare_list")),
        (f"```json\n{OBJECT}", ("fence", "unpaired_fence")),
        (f"{OBJECT}\n```", ("fence", "unpaired_fence")),
        (f"{OBJECT}\n\nI kept one argument.", ("surrounding_text",)),
        (f"As asked [1]: {OBJECT}", ("surrounding_text",)),
        (f"[see below] {OBJECT}", ("surrounding_text",)),
        (f"I think so.</think>{OBJECT}", ("surrounding_text",)),
    ],
)
def test_wrapping_that_holds_no_data_is_taken_off_and_labelled(raw: str, labels: tuple[str, ...]) -> None:
    outcome = parse_answer(raw)
    assert isinstance(outcome, Parsed)
    assert outcome.units == (Unit("A", "B", "", "moral"),)
    assert outcome.labels == labels


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("", "empty"),
        (" \n\u3000", "empty"),
        ("\ufeff", "empty"),
        ("<think></think>", "empty"),
        ("null", "not_an_object"),
        ("42", "not_an_object"),
        (json.dumps(OBJECT), "not_an_object"),
        ("I cannot help.", "not_json"),
        (OBJECT + "}", "not_json"),
        (OBJECT[:-1], "truncated"),
        ("```json\n" + OBJECT[:-20], "truncated"),
        ("Here: " + OBJECT[:-20], "truncated"),
        ("[" + OBJECT, "truncated"),
        (f"Here: [{OBJECT}", "not_json"),
        (f"Here: [{UNIT}]", "not_json"),
        (f"[{UNIT}] Done.", "not_json"),
        (f'"arguments": [{UNIT}]', "not_json"),
        (f"The set {{a}}: {OBJECT}", "not_json"),
        (f"{OBJECT} and {{a}}", "not_json"),
        (OBJECT.replace('"A"', "NaN"), "not_json"),
        (OBJECT.replace('"A"', "'A'"), "not_json"),
        (OBJECT.replace("}]", "},]"), "not_json"),
        (OBJECT + OBJECT, "several_objects"),
        (f"{OBJECT}\nor\n{OBJECT}", "several_objects"),
        (f"{OBJECT}\n{OBJECT[:-20]}", "several_objects"),
        (f"{UNIT}\n{UNIT}", "several_objects"),
        (f"[{UNIT}]\n[{UNIT}]", "several_objects"),
        (f"```json\n{OBJECT}\n```\n```json\n{OBJECT}\n```", "several_objects"),
        (f"```\nnotes\n```\n```json\n{OBJECT}\n```", "several_fences"),
        (f"<think>{OBJECT}", "unclosed_reasoning_block"),
        (f"Well <think>{OBJECT}", "unclosed_reasoning_block"),
        (f"<think>a<think>b</think>c</think>{OBJECT}", "several_reasoning_blocks"),
        (f"<think>a<think>b</think>{OBJECT}", "several_reasoning_blocks"),
        (f"<think>a</think><think>b</think>{OBJECT}", "several_reasoning_blocks"),
        ('{"arguments": [], "arguments": []}', "duplicate_keys"),
        (OBJECT.replace('"B"', '{"x": 1, "x": 2}'), "duplicate_keys"),
        ("{}", "missing_arguments"),
        (UNIT, "missing_arguments"),
        (f'{{"Arguments": [{UNIT}]}}', "missing_arguments"),
        ('{"arguments": null}', "no_arguments"),
        ("[]", "no_arguments"),
        ("```\n[]\n```", "no_arguments"),
        ('{"arguments": {}}', "arguments_not_a_list"),
        (f'{{"arguments": {json.dumps(UNIT)}}}', "arguments_not_a_list"),
        ('{"arguments": ["A"]}', "unit_not_an_object"),
        (f"[{OBJECT}]", "missing_claim"),
        ('{"arguments": [{"Claim": "A"}]}', "missing_claim"),
        (OBJECT.replace('"A"', "1"), "field_not_a_string"),
        (OBJECT.replace('"moral"', '["moral", "legal"]'), "field_not_a_string"),
        (OBJECT.replace('"A"', '"\\ud800"'), "lone_surrogate"),
        ("\ud800", "lone_surrogate"),
        (OBJECT.replace('"A"', '"\\u0000"'), "nul_character"),
        (f'{{"arguments": [{UNIT}], "n": {"9" * 5000}}}', "number_out_of_range"),
        (f'{{"arguments": [{UNIT}], "n": 1e999}}', "number_out_of_range"),
        ("[" * 10_000, "too_deep"),
        ('{"a":' * 10_000, "too_deep"),
        (f'{{"arguments": [{UNIT}], "x": {"[" * 10_000 + "]" * 10_000}}}', "too_deep"),
    ],
)
def test_what_would_have_to_be_guessed_fails_with_its_reason(raw: str, reason: str) -> None:
    assert parse_answer(raw) == Failed(reason)


@pytest.mark.parametrize("claim", ["```", "a {b} [c", "<think>", "</think> {", "\ufeff", '"quoted"', "\\"])
def test_marks_inside_a_claim_are_text(claim: str) -> None:
    for raw in (answer(claim), f"```json\n{answer(claim)}\n```", f"<think>x</think>\n{answer(claim)}"):
        outcome = parse_answer(raw)
        assert isinstance(outcome, Parsed)
        assert outcome.units[0].claim == claim


def test_texts_are_as_delivered_and_null_is_an_empty_string() -> None:
    raw = (
        '{"arguments": [{"claim": " A\\n", "warrant": null, "evidence_or_example": "\\t", "argument_type": " Legal "}]}'
    )
    assert parse_answer(raw) == Parsed((Unit(" A\n", "", "\t", " Legal "),), (), 0)


def test_blank_claims_are_dropped_and_counted_in_a_failure_too() -> None:
    outcome = parse_answer(answer("", "A", " \u3000", "B"))
    assert isinstance(outcome, Parsed)
    assert [unit.claim for unit in outcome.units] == ["A", "B"]
    assert (outcome.labels, outcome.n_blank_claims) == (("blank_claim",), 2)
    assert parse_answer(answer("", " ")) == Failed("no_arguments", n_blank_claims=2)
    assert parse_answer('[{"claim": null}]') == Failed("no_arguments", n_blank_claims=1)


def test_only_kept_units_count_towards_too_many() -> None:
    assert parse_answer(answer("A", "", "B", "C", "D")).labels == ("blank_claim",)
    assert parse_answer(answer("A", "", "B", "C", "D", "E")).labels == ("blank_claim", "too_many_units")


def test_fields_beyond_the_schema_are_kept_and_labelled() -> None:
    outcome = parse_answer(f'{{"arguments": [{UNIT[:-1]}, "confidence": 0.5}}], "notes": ["n"]}}')
    assert isinstance(outcome, Parsed)
    assert outcome.labels == ("extra_answer_fields", "extra_unit_fields")
    assert outcome.extra == {"notes": ["n"]}
    assert outcome.units[0].extra == {"confidence": 0.5}


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
CLAIMS = TEXTS.filter(lambda text: text.strip())
UNITS = st.builds(Unit, CLAIMS, TEXTS, TEXTS, st.sampled_from(["causal", "moral|legal", " Legal ", ""]))
PROSE = st.text(string.ascii_letters + " .:\n'\"", max_size=20)
FRAGMENTS = st.sampled_from(
    [
        *("```", "```json\n", "<think>", "</think>", "{", "}", "[", "]", ",", '"', "\\", "\\u", "\\ud800", "\\u0000"),
        *("\ufeff", "\u2028", "\0", "null", "NaN", '{"arguments": [', OBJECT, UNIT, "“", "é", " ", "\n"),
    ]
)
MUTATIONS = st.lists(
    st.tuples(st.sampled_from(["insert", "delete", "repeat", "cut"]), st.floats(0, 1), st.floats(0, 0.3), FRAGMENTS),
    max_size=5,
)


def written(units: list[Unit], ascii_only: bool = False) -> str:
    members = [{name: getattr(unit, name) for name in TEXT_FIELDS} for unit in units]
    return json.dumps({"arguments": members}, ensure_ascii=ascii_only)


def mutated(raw: str, mutations: list[tuple[str, float, float, str]]) -> str:
    for kind, position, length, fragment in mutations:
        start = int(position * len(raw))
        end = start + int(length * len(raw))
        if kind == "insert":
            raw = raw[:start] + fragment + raw[start:]
        elif kind == "delete":
            raw = raw[:start] + raw[end:]
        elif kind == "repeat":
            raw = raw[:end] + raw[start:]
        else:
            raw = raw[:start]
    return raw


def string_values(raw: str) -> set[str]:
    """Every JSON string that begins at any quote of the text."""
    found = set()
    for quote in re.finditer('"', raw):
        try:
            found.add(json.decoder.py_scanstring(raw, quote.end())[0])
        except ValueError:
            continue
    return found


@settings(max_examples=2000, deadline=None)
@given(st.lists(UNITS, min_size=1, max_size=5), st.booleans(), MUTATIONS)
@example([Unit("A", "", "", "")], False, [("insert", 0.0, 0.0, "<think>"), ("insert", 0.0, 0.0, "```")])
def test_a_mutated_answer_is_parsed_from_its_own_strings_or_fails_with_a_known_reason(units, ascii_only, mutations):
    raw = mutated(written(units, ascii_only), mutations)
    outcome = parse_answer(raw)
    if isinstance(outcome, Failed):
        assert outcome.reason in FAILURE_REASONS
        assert mutations
        return
    assert outcome.units
    assert set(outcome.labels) <= set(get_args(Label))
    values = string_values(raw)
    for unit in outcome.units:
        for name in TEXT_FIELDS:
            text = getattr(unit, name)
            assert text in values or text == ""
    # Nothing between the answer's outermost braces is skipped: a plain parse of that stretch says the same.
    stretch = raw[raw.rindex("</think>") :] if "reasoning_block" in outcome.labels and '"' in raw else raw
    opening, closing = ("[", "]") if "bare_list" in outcome.labels else ("{", "}")
    plain = json.loads(stretch[stretch.index(opening) : stretch.rindex(closing) + 1])
    delivered = plain if isinstance(plain, list) else plain["arguments"]
    assert [unit.claim for unit in outcome.units] == [u["claim"] for u in delivered if (u["claim"] or "").strip()]


@settings(max_examples=300, deadline=None)
@given(st.lists(UNITS, min_size=1, max_size=4), st.data())
def test_every_beginning_of_an_answer_fails_as_cut_off(units, data) -> None:
    raw = written(units)
    cut = data.draw(st.integers(0, len(raw) - 1))
    assert parse_answer(raw[:cut]) == Failed("truncated" if cut else "empty")


@settings(max_examples=300, deadline=None)
@given(st.lists(UNITS, min_size=1, max_size=4), PROSE, PROSE, TEXTS, st.booleans(), st.booleans(), st.booleans())
def test_taking_wrapping_off_loses_and_invents_nothing(units, before, after, thought, bom, fence, think) -> None:
    raw = written(units)
    if fence:
        raw = f"```json\n{raw}\n```"
    raw = f"{before}\n{raw}\n{after}"
    if think:
        raw = f"<think>{thought.replace('<', '')}</think>{raw}"
    outcome = parse_answer("\ufeff" + raw if bom else raw)
    assert isinstance(outcome, Parsed)
    assert outcome.units == tuple(units)
    wrapped = bool(before.strip() or after.strip())
    expected = {"bom": bom, "reasoning_block": think, "fence": fence, "surrounding_text": wrapped}
    assert {name: name in outcome.labels for name in expected} == expected
