"""The extractor without a model, and the SQL sentence counter that it agrees with."""

from __future__ import annotations

import json
import re
from pathlib import Path

import duckdb
import jinja2
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ingest.extract import SENTENCES, Speech, extract_sentences, read_speeches, split_sentences
from ingest.parse import Failed, Parsed, parse_answer
from ingest.reference import languages

ROOT = Path(__file__).parents[3]
TERMINATORS = {language.language: language.sentence_terminators for language in languages()}
LANGUAGES = list(TERMINATORS)


def counted_in_sql(texts: list[tuple[str, str]]) -> list[int]:
    """What dbt's `sentence_count` makes of (language, text) pairs."""
    macros = "".join((ROOT / "dbt/macros" / f"{name}.sql").read_text() for name in ("sentence_count", "text_length"))
    call = jinja2.Environment().from_string(macros + "{{ sentence_count('text', 'terminators') }}").render()
    with duckdb.connect() as database:
        database.execute("create table texts (place integer, text varchar, terminators varchar)")
        rows = [(place, text, TERMINATORS[language]) for place, (language, text) in enumerate(texts)]
        database.executemany("insert into texts values (?, ?, ?)", rows)
        return [count for (count,) in database.execute(f"select {call} from texts order by place").fetchall()]


def counted_by_a_reader() -> list[tuple[str, str, int]]:
    """The texts of dbt's own unit test with the number of sentences that a reader counts in each."""
    tests = yaml.safe_load((ROOT / "dbt/models/intermediate/_intermediate.yml").read_text())["unit_tests"]
    test = next(one for one in tests if one["name"] == "sentences_are_counted_by_the_marks_of_their_language")
    texts = next(one["rows"] for one in test["given"] if one["input"] == "ref('stg_archive__turns')")
    counts = {(row["session_id"], row["turn_index"]): row["sentence_count"] for row in test["expect"]["rows"]}
    return [(row["session_id"], row["text"], counts[row["session_id"], row["turn_index"]]) for row in texts]


def test_the_splitter_finds_the_sentences_that_a_reader_and_sql_count() -> None:
    cases = counted_by_a_reader()
    assert len(cases) > 35
    assert [(text, len(split_sentences(text, language))) for language, text, _ in cases] == [
        (text, count) for _, text, count in cases
    ]
    assert counted_in_sql([(language, text) for language, text, _ in cases]) == [count for *_, count in cases]


def test_the_splitter_and_sql_agree_on_every_speech_of_the_sample(sample: Path) -> None:
    speeches = read_speeches(sample)
    counts = counted_in_sql([(speech.language, speech.text) for speech in speeches])
    assert len(counts) == 960
    assert [len(split_sentences(speech.text, speech.language)) for speech in speeches] == counts


def test_a_blank_line_ends_a_sentence_here_and_not_in_sql() -> None:
    text = "A heading\n\nA sentence."
    assert split_sentences(text, "en") == ["A heading", "A sentence."]
    assert counted_in_sql([("en", text)]) == [1]


@pytest.mark.parametrize(
    ("language", "text", "sentences"),
    [
        ("en", "Dr. Lee asked, “Who pays?” Nobody knew…", ["Dr. Lee asked, “Who pays?”", "Nobody knew…"]),
        ("fr", "« Pourquoi ? » Il partit. Voilà", ["« Pourquoi ? »", "Il partit.", "Voilà"]),
        ("zh", "他说：“不公平。”真的吗？！是的", ["他说：“不公平。”", "真的吗？！", "是的"]),
        ("ar", "من يدفع؟ الجميع!", ["من يدفع؟", "الجميع!"]),
        ("en", "First. — Second.", ["First.", "— Second."]),
        ("en", "... Well. * * *", ["... Well. * * *"]),
        ("en", "", []),
        ("zh", "……！", []),
        # Languages that the reference list does not know.
        ("hi", "यह पहला वाक्य है। यह दूसरा है।", ["यह पहला वाक्य है।", "यह दूसरा है।"]),
        ("ja", "これは文です。次の文です！", ["これは文です。", "次の文です！"]),
        ("am", "ይህ አንድ ነው። ይህ ሁለት ነው።", ["ይህ አንድ ነው።", "ይህ ሁለት ነው።"]),
        ("de", "Das ist z. B. gut. Ja!", ["Das ist z. B. gut.", "Ja!"]),
    ],
)
def test_sentences_are_whole_and_trimmed(language: str, text: str, sentences: list[str]) -> None:
    assert split_sentences(text, language) == sentences


@given(
    text=st.text(st.sampled_from("aB9éдЖش中 \n.!?…。！؟,;:\"'”»()—*-")) | st.text(max_size=60),
    language=st.sampled_from([*LANGUAGES, "xx"]),
)
def test_every_character_is_in_exactly_one_sentence(text: str, language: str) -> None:
    sentences = split_sentences(text, language)
    assert all(sentence == sentence.strip() and any(c.isalnum() for c in sentence) for sentence in sentences)
    if any(character.isalnum() for character in text):
        assert re.sub(r"\s", "", "".join(sentences)) == re.sub(r"\s", "", text)
    else:
        assert sentences == []


def test_its_answers_have_the_form_of_a_models_and_parse_into_one_unit_a_sentence(tmp_path: Path) -> None:
    speeches = [
        Speech("S1", 1, "A motion.", "en", "pro", 'One "quoted". Two. Three. Four. Five.'),
        Speech("S1", 2, "A motion.", "en", "con", "…"),
    ]
    assert extract_sentences(speeches, tmp_path) == 2
    first, second = (json.loads(line) for line in (tmp_path / "extractions.jsonl").read_text().splitlines())
    assert (first["session_id"], first["turn_index"], first["extractor"]) == ("S1", 1, SENTENCES)
    parsed = parse_answer(first["raw_response"])
    assert isinstance(parsed, Parsed)
    assert [unit.claim for unit in parsed.units] == ['One "quoted".', "Two.", "Three.", "Four.", "Five."]
    assert parse_answer(second["raw_response"]) == Failed("no_arguments")
