from __future__ import annotations

import json

import pytest

from ingest.archive.lines import Unusable
from ingest.archive.records import record_id, rows_of
from ingest.archive.schemas import ARCHIVE_SCHEMAS, PROVENANCE
from tests.ingest.archives import extraction, session, turn

MINIMAL = {
    "motions": {"motion_id": "M1", "texts": {"en": "Text."}},
    "sessions": {
        "session_id": "S1",
        "motion_id": "M1",
        "motion_text": "Text.",
        "language": "en",
        "condition": "baseline",
    },
    "turns": {"session_id": "S1", "turn_index": 1, "text": "Text."},
    "extractions": {"session_id": "S1", "turn_index": 1, "extractor": "x", "raw_response": ""},
    "annotations": {
        "task": "repetition",
        "annotator": "r1",
        "argument_id": "S1/2/1",
        "nearest_argument_id": "S1/1/1",
        "label": "3",
    },
    "judgments": {"instrument": "outcome", "judge": "j", "session_id": "S1", "raw_response": "{}"},
}


def unusable(table: str, record: dict) -> Unusable:
    with pytest.raises(Unusable) as caught:
        rows_of(table, record)
    return caught.value


@pytest.mark.parametrize("table", MINIMAL)
def test_a_record_with_its_required_fields_alone_has_every_column(table: str) -> None:
    (row,) = rows_of(table, MINIMAL[table])
    assert set(row) | {field.name for field in PROVENANCE} == set(ARCHIVE_SCHEMAS[table].names)
    assert row["extra"] is None


@pytest.mark.parametrize(("table", "name"), [(table, name) for table, record in MINIMAL.items() for name in record])
def test_a_record_without_a_required_field_names_it(table: str, name: str) -> None:
    absent = unusable(table, {key: value for key, value in MINIMAL[table].items() if key != name})
    null = unusable(table, {**MINIMAL[table], name: None})
    assert absent.reason == null.reason == "missing_field"
    assert name in absent.detail


@pytest.mark.parametrize("value", ["3", 3.0, True, [3], {"index": 3}])
def test_a_turn_index_of_another_type_is_not_coerced(value) -> None:
    error = unusable("turns", turn("S1", value))
    assert error.reason == "wrong_type"
    assert error.detail.startswith("turn_index is ")


@pytest.mark.parametrize("value", [0, -1, 2**31])
def test_a_turn_index_no_session_can_have_is_out_of_range(value: int) -> None:
    assert unusable("turns", turn("S1", value)).reason == "out_of_range"


@pytest.mark.parametrize(
    ("table", "record", "named"),
    [
        ("sessions", session("S1", repeat="1"), "repeat"),
        ("sessions", session("S1", role_mapping=["a", "b"]), "role_mapping"),
        ("sessions", session("S1", role_mapping={"pro_1": 1}), "role_mapping.pro_1"),
        ("sessions", session("S1", started_at=1700000000), "started_at"),
        ("turns", turn("S1", 1, text=["Speech."]), "text"),
        ("turns", turn("S1", 1, usage=12), "usage"),
        ("turns", turn("S1", 1, usage={"input_tokens": 1.5}), "usage.input_tokens"),
        ("turns", turn("S1", 1, usage={"output_tokens": 2**63}), "usage.output_tokens"),
        ("extractions", extraction("S1", 1, raw_response={"arguments": []}), "raw_response"),
        ("motions", {"motion_id": "M1", "texts": {"en": 1}}, "texts.en"),
        ("motions", {"motion_id": "M1", "texts": {"en": "T"}, "qa": {"en": []}}, "qa.en"),
        ("motions", {"motion_id": "M1", "texts": {"en": "T"}, "qa": {"en": {"adequacy_score": "4"}}}, "adequacy_score"),
        ("annotations", {**MINIMAL["annotations"], "label": "3.0"}, "label"),
        ("annotations", {**MINIMAL["annotations"], "label": "4"}, "label"),
        ("annotations", {**MINIMAL["annotations"], "over_split": "yes"}, "over_split"),
        ("annotations", {**MINIMAL["annotations"], "weight": "nan"}, "weight"),
    ],
)
def test_an_optional_field_of_a_wrong_type_rejects_the_record_and_is_named(table, record, named) -> None:
    error = unusable(table, record)
    assert error.reason in ("wrong_type", "out_of_range")
    assert named in error.detail


def test_values_outside_the_contract_s_lists_are_rejected() -> None:
    assert unusable("sessions", session("S1", status="done")).reason == "unexpected_value"
    assert unusable("judgments", {**MINIMAL["judgments"], "instrument": "vibes"}).reason == "unexpected_value"


def test_a_blank_id_is_rejected_and_an_odd_one_is_kept_as_delivered() -> None:
    assert unusable("sessions", session(" ")).reason == "empty_id"
    for odd in ("../../etc", 'quote"d', "it's", "a/b", " S1", "界"):
        assert rows_of("sessions", session(odd))[0]["session_id"] == odd


def test_unknown_fields_are_kept_in_extra_with_those_of_usage() -> None:
    (row,) = rows_of("turns", turn("S1", 1, seed=7, usage={"input_tokens": 5, "cached": {"a": [1]}}))
    assert row["input_tokens"] == 5
    assert row["output_tokens"] is None
    assert json.loads(row["extra"]) == {"seed": 7, "usage": {"cached": {"a": [1]}}}


def test_a_motion_has_a_row_for_each_language_and_loses_no_quality_data() -> None:
    qa = {"zh": {"adequacy_score": 4, "preserves_scope": False, "rater": "q"}, "fr": {"triage": "C"}}
    rows = rows_of("motions", {"motion_id": "M1", "texts": {"en": "E", "zh": "Z", "ar": None}, "qa": qa, "year": 2026})
    assert [(row["language"], row["motion_text"], row["adequacy_score"]) for row in rows] == [
        ("en", "E", None),
        ("zh", "Z", 4),
    ]
    assert json.loads(rows[0]["extra"]) == {"qa": {"fr": {"triage": "C"}}, "year": 2026}
    assert json.loads(rows[1]["extra"])["qa"] == {"fr": {"triage": "C"}, "zh": {"rater": "q"}}
    assert rows[1]["preserves_scope"] is False


def test_cells_of_annotations_are_read_as_what_their_columns_hold() -> None:
    record = {
        **MINIMAL["annotations"],
        "round": "2",
        "weight": "4.0625",
        "hallucination": "TRUE",
        "missing_major": "false",
        "note": " kept as is ",
    }
    (row,) = rows_of("annotations", record)
    assert (row["round"], row["weight"], row["hallucination"], row["missing_major"], row["label"]) == (
        2,
        4.0625,
        True,
        False,
        3,
    )
    assert row["note"] == " kept as is "


def test_a_rejected_record_is_named_by_as_much_of_its_key_as_it_has() -> None:
    assert record_id("turns", {"session_id": "S1", "turn_index": "x"}) == "S1/x"
    assert record_id("turns", {"session_id": ["S1"], "turn_index": 3}) == "3"
    assert record_id("sessions", {"language": "en"}) is None


def test_other_spellings_of_a_turns_terms_are_read_as_the_templates_and_blank_ones_as_absent() -> None:
    (row,) = rows_of("turns", turn("S1", 5, phase="Cross-exam", role="Pro Second Speaker", side=" "))
    assert (row["phase"], row["role"], row["side"]) == ("cross_exam", "pro_2", None)


def test_a_role_mapping_is_read_by_the_roles_that_its_turns_are_read_with() -> None:
    (row,) = rows_of("sessions", session("S1", role_mapping={"Pro First Speaker": "a", "judge": "b"}))
    assert row["role_mapping"] == [("pro_1", "a"), ("judge", "b")]


def test_one_role_in_two_spellings_with_two_agents_is_refused() -> None:
    assert unusable("sessions", session("S1", role_mapping={"pro_1": "a", "Pro 1": "b"})).reason == "ambiguous_role"
    (row,) = rows_of("sessions", session("S1", role_mapping={"pro_1": "a", "Pro 1": "a"}))
    assert row["role_mapping"] == [("pro_1", "a")]
