from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.judge import (
    DIMENSIONS,
    FUNCTIONS,
    FailedJudgment,
    FunctionLabel,
    OutcomeScores,
    PairLabel,
    parse_judgment,
    parse_judgments,
)
from ingest.judge.answers import FAILURE_REASONS
from ingest.judge.schemas import JUDGMENT_PARSES_SCHEMA
from tests.ingest.archives import ArchiveBuilder, Load

SCORES = dict.fromkeys(DIMENSIONS, 8)
GOOD = {
    "pair_judge": '{"label": 3, "reason": "the same point"}',
    "function": '{"function": "rebuttal_or_response"}',
    "outcome": json.dumps(SCORES | {"brief_rationale": "Responsive."}),
}


def test_a_good_answer_says_what_it_was_asked_for() -> None:
    assert parse_judgment("pair_judge", GOOD["pair_judge"]) == PairLabel("the same point", (), label=3)
    assert parse_judgment("function", GOOD["function"]) == FunctionLabel(None, (), function="rebuttal_or_response")
    assert parse_judgment("outcome", GOOD["outcome"]) == OutcomeScores("Responsive.", (), scores=SCORES)


@pytest.mark.parametrize("instrument", GOOD)
@pytest.mark.parametrize(
    ("wrap", "label"),
    [
        ("```json\n{}\n```", "fence"),
        ("<think>The label is 0.</think>{}", "reasoning_block"),
        ("Here is my judgment: {}", "surrounding_text"),
        ("\ufeff{}", "bom"),
    ],
)
def test_wrapping_is_taken_off_as_for_extractors_and_leaves_its_label(instrument: str, wrap: str, label: str) -> None:
    plain, wrapped = (
        parse_judgment(instrument, text) for text in (GOOD[instrument], wrap.replace("{}", GOOD[instrument]))
    )
    assert wrapped.labels == (label,)
    assert vars(wrapped) | {"labels": ()} == vars(plain)


@pytest.mark.parametrize(
    ("instrument", "raw", "reason"),
    [
        ("pair_judge", "", "empty"),
        ("pair_judge", "3", "not_an_object"),
        ("pair_judge", '[{"label": 3}]', "not_an_object"),
        ("pair_judge", "I would say 3.", "not_json"),
        ("pair_judge", '{"label": 3', "truncated"),
        ("pair_judge", '{"label": 3, "label": 0}', "duplicate_keys"),
        ("pair_judge", '{"label": 0} {"label": 3}', "several_objects"),
        ("pair_judge", '{"reason": "same"}', "missing_value"),
        ("pair_judge", '{"label": null}', "missing_value"),
        ("pair_judge", '{"label": "3"}', "not_an_integer"),
        ("pair_judge", '{"label": 3.0}', "not_an_integer"),
        ("pair_judge", '{"label": true}', "not_an_integer"),
        ("pair_judge", '{"label": 4}', "out_of_range"),
        ("pair_judge", '{"label": -1}', "out_of_range"),
        ("pair_judge", '{"label": 3, "reason": ["a"]}', "not_a_string"),
        ("function", "{}", "missing_value"),
        ("function", '{"function": 2}', "not_a_string"),
        ("function", '{"function": "rebuttal"}', "unknown_function"),
        ("function", '{"function": "rebuttal_or_response, refinement_or_extension"}', "unknown_function"),
        ("outcome", json.dumps({**SCORES, "engagement": 11}), "out_of_range"),
        ("outcome", json.dumps({**SCORES, "engagement": 0}), "out_of_range"),
        ("outcome", json.dumps({**SCORES, "overall_quality": 7.5}), "not_an_integer"),
        ("outcome", json.dumps({name: 8 for name in DIMENSIONS[:3]}), "missing_value"),
    ],
)
def test_what_would_have_to_be_guessed_is_a_failure(instrument: Any, raw: str, reason: str) -> None:
    assert parse_judgment(instrument, raw) == FailedJudgment(reason)


@pytest.mark.parametrize(
    "written", ["Rebuttal or response", " REBUTTAL_OR_RESPONSE ", "rebuttal_or response", "rebuttal\u00a0or response"]
)
def test_a_category_by_its_printed_name_is_the_category(written: str) -> None:
    found = parse_judgment("function", json.dumps({"function": written}))
    assert found == FunctionLabel(None, ("respelled",), function="rebuttal_or_response")


def test_fields_nobody_asked_for_are_kept() -> None:
    found = parse_judgment("pair_judge", '{"label": 0, "confidence": 0.9}')
    assert found == PairLabel(None, ("extra_fields",), {"confidence": 0.9}, label=0)


@given(st.text(max_size=200), st.sampled_from(sorted(GOOD)))
@settings(max_examples=300, deadline=None)
def test_no_text_raises(raw: str, instrument: Any) -> None:
    outcome = parse_judgment(instrument, raw)
    assert not isinstance(outcome, FailedJudgment) or outcome.reason in FAILURE_REASONS


@given(st.dictionaries(st.sampled_from([*DIMENSIONS, "label", "function", "reason"]), st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.sampled_from(FUNCTIONS),
    lambda inner: st.lists(inner, max_size=2),
)), st.sampled_from(sorted(GOOD)))  # fmt: skip
@settings(max_examples=300, deadline=None)
def test_whatever_is_read_is_in_range(answer: dict, instrument: Any) -> None:
    outcome = parse_judgment(instrument, json.dumps(answer))
    if isinstance(outcome, PairLabel):
        assert outcome.label in (0, 1, 2, 3) and type(outcome.label) is int
    if isinstance(outcome, OutcomeScores):
        assert all(1 <= score <= 10 and type(score) is int for score in outcome.scores.values())
    if isinstance(outcome, FunctionLabel):
        assert outcome.function in FUNCTIONS


def test_every_judgment_of_a_snapshot_is_a_row(archive: ArchiveBuilder, load: Load, tmp_path: Path) -> None:
    archive.add_session("S1")
    pair = {"argument_id": "S1/3/1", "nearest_argument_id": "S1/1/1", "judge": "j"}
    archive.add(
        "judgments",
        {**pair, "instrument": "pair_judge", "raw_response": GOOD["pair_judge"]},
        {**pair, "instrument": "pair_judge", "round": 2, "raw_response": 'It is repetition: {"label": 3'},
        {**pair, "instrument": "function", "raw_response": GOOD["function"]},
        {"instrument": "outcome", "judge": "j", "session_id": "S1", "raw_response": GOOD["outcome"]},
    )
    loaded = load(archive)
    done: list[tuple[int, int]] = []
    report = parse_judgments(loaded.directory, tmp_path / "judgments", lambda *counts: done.append(counts))
    assert (report.n_judgments, report.n_parsed, report.n_failed) == (4, 3, 1)
    assert (report.judgments, report.reasons) == ({"function": 1, "outcome": 1, "pair_judge": 2}, {"truncated": 1})
    assert done[-1] == (4, 4)
    table = pq.read_table(tmp_path / "judgments" / "judgment_parses.parquet")
    assert table.schema == JUDGMENT_PARSES_SCHEMA
    rows = {(row["instrument"], row["round"]): row for row in table.to_pylist()}
    assert (rows["pair_judge", None]["label"], rows["pair_judge", None]["rationale"]) == (3, "the same point")
    failed = rows["pair_judge", 2]
    assert (failed["parsed"], failed["reason"], failed["label"]) == (False, "truncated", None)
    assert failed["raw_response"] == 'It is repetition: {"label": 3'
    assert rows["function", None]["function"] == "rebuttal_or_response"
    assert [rows["outcome", None][name] for name in DIMENSIONS] == [8, 8, 8, 8]


def test_an_archive_without_judgments_gives_an_empty_table(archive: ArchiveBuilder, load: Load, tmp_path: Path) -> None:
    archive.add_session("S1")
    report = parse_judgments(load(archive).directory, tmp_path / "judgments")
    assert report.n_judgments == 0
    assert pq.read_table(tmp_path / "judgments" / "judgment_parses.parquet").num_rows == 0
