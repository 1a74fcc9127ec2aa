from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ingest import reference


def test_the_six_languages_of_the_study_come_first_and_undetermined_last() -> None:
    codes = [language.language for language in reference.languages()]
    assert codes[:6] == ["en", "ar", "es", "fr", "ru", "zh"]
    assert codes[6:-1] == sorted(codes[6:-1]) and codes[-1] == "und"
    assert len(set(codes)) == len(codes)


def test_direction_and_length_unit_follow_the_script() -> None:
    known = reference.languages()
    assert {language.language for language in known if language.direction == "rtl"} == {"ar", "fa", "he", "ur"}
    assert {language.language for language in known if language.length_unit == "characters"} == {"zh", "ja"}


def test_the_template_has_two_turns_a_phase_and_alternates_sides() -> None:
    template = reference.turn_template()
    assert [turn.turn_index for turn in template] == list(range(1, 9))
    assert [turn.side for turn in template] == ["pro", "con"] * 4
    assert [turn.role for turn in template] == ["pro_1", "con_1"] * 2 + ["pro_2", "con_2"] * 2
    assert [turn.phase for turn in template[::2]] == ["opening", "rebuttal", "cross_exam", "closing"]
    assert all(turn.expected_sentences == (4 if turn.phase == "closing" else 5) for turn in template)


def test_argument_types_are_ten_buckets_with_other_last() -> None:
    types = [argument_type.argument_type for argument_type in reference.argument_types()]
    assert len(set(types)) == 10
    assert types[-1] == "other"


def test_every_turn_of_the_sample_ends_with_a_terminator_of_its_language(loaded_sample) -> None:
    terminators = {language.language: language.sentence_terminators for language in reference.languages()}
    assert all(row["text"].strip()[-1] in terminators[row["language"]] for row in loaded_sample.by_language("turns"))


def test_write_reference_writes_what_the_loaders_return(tmp_path: Path) -> None:
    reference.write_reference(tmp_path)
    stored = {path.stem: pq.read_table(path) for path in tmp_path.iterdir()}
    assert set(stored) == {"languages", "turn_template", "argument_types"}
    assert stored["languages"].num_rows == len(reference.languages())
    assert stored["turn_template"].column("turn_index").to_pylist() == list(range(1, 9))
    assert stored["languages"].column("native_name").to_pylist()[1] == "العربية"


@pytest.mark.parametrize(
    ("field", "spelling", "term"),
    [
        ("phase", "Cross-exam.", "cross_exam"),
        ("phase", " Opening ", "opening"),
        ("phase", "cross_exam", "cross_exam"),
        ("phase", "Free speech", "Free speech"),
        ("role", "Pro First Speaker", "pro_1"),
        ("role", "CON-2", "con_2"),
        ("role", "judge", "judge"),
        ("side", "Proposition", "pro"),
        ("side", "opening", "opening"),
    ],
)
def test_spellings_of_a_term_are_the_term_and_others_stay(field: str, spelling: str, term: str) -> None:
    assert reference.turn_term(field, spelling) == term


def test_every_term_of_the_template_is_a_spelling_of_itself() -> None:
    for turn in reference.turn_template():
        for field in ("phase", "role", "side"):
            assert reference.turn_term(field, getattr(turn, field)) == getattr(turn, field)
