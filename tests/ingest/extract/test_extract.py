"""Extraction by a model: what it is asked, and what is kept of its answers."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pyarrow.parquet as pq
import pytest

from ingest.archive import find_parts, read_part
from ingest.errors import ArchiveError
from ingest.extract import Speech, extract, extraction_request, load_extraction_prompt, read_speeches
from ingest.extract.prompt import ANSWER_SCHEMA, PROMPT
from ingest.run.call import CallProblem, CallRequest, ItemFailed, ProviderHalted
from ingest.run.templates import TemplateError
from tests.ingest.archives import ArchiveBuilder
from tests.ingest.fake_caller import FakeCaller, agent

PROMPT_ = load_extraction_prompt()
EXTRACTOR = agent("llama-4-scout", temperature=0.7)
SPEECHES = [Speech("S1", turn, "A {motion}.", "en", "pro", f"Speech {turn} {{side}}.") for turn in range(1, 9)]
ANSWER = '{"arguments": [{"claim": "c", "warrant": "", "evidence_or_example": "", "argument_type": "causal"}]}'


def records(directory: Path) -> list[dict]:
    return [json.loads(line) for line in (directory / "extractions.jsonl").read_bytes().split(b"\n") if line]


def test_a_speech_is_one_call_with_a_schema_at_temperature_0_and_1024_tokens() -> None:
    request = extraction_request(PROMPT_, SPEECHES[2], EXTRACTOR)
    assert request.sampling == {"temperature": 0, "max_tokens": 1024}
    assert request.stage == "extraction"
    assert request.response_schema == ANSWER_SCHEMA
    system, user = request.messages
    assert system["role"] == "system"
    assert "JSON object" in system["content"]
    assert "Motion: A {motion}.\nSide of the speaker: Pro\nSpeech:\nSpeech 3 {side}.\n" in user["content"]
    assert request.subject == {"session_id": "S1", "turn_index": 3, "extractor": "llama-4-scout"}


def test_a_provider_that_refuses_schemas_is_asked_without_one() -> None:
    assert extraction_request(PROMPT_, SPEECHES[0], agent("x", "deepseek/deepseek-chat")).response_schema is None


def test_the_schema_takes_what_the_prompt_asks_for() -> None:
    jsonschema.validate(json.loads(ANSWER), ANSWER_SCHEMA)
    for wrong in (
        '{"arguments": []}',
        ANSWER.replace("causal", "economic|causal"),
        ANSWER.replace('"warrant": "", ', ""),
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(json.loads(wrong), ANSWER_SCHEMA)


@pytest.mark.parametrize(
    ("user", "told"),
    [("{motion_text} {side}", r"user\.txt lacks.*\{turn_text\}"), ("{motion_text} {side} {turn_text} {x}", r"\{x\}")],
)
def test_another_prompt_has_its_placeholders_checked(tmp_path: Path, user: str, told: str) -> None:
    (tmp_path / "system.txt").write_text((PROMPT / "system.txt").read_text())
    (tmp_path / "user.txt").write_text(user)
    with pytest.raises(TemplateError, match=told):
        load_extraction_prompt(tmp_path)


def test_answers_are_written_untouched_in_the_order_of_the_speeches(tmp_path: Path) -> None:
    def reply(request: CallRequest) -> str:
        return f"```json\n{ANSWER}\n``` \u2028 {request.subject['turn_index']}"

    told: list[tuple[int, int]] = []
    report = extract(SPEECHES, EXTRACTOR, PROMPT_, FakeCaller(reply), tmp_path, lambda *seen: told.append(seen))
    assert [record["turn_index"] for record in records(tmp_path)] == list(range(1, 9))
    assert records(tmp_path)[4]["raw_response"] == f"```json\n{ANSWER}\n``` \u2028 5"
    assert records(tmp_path)[4]["finish_reason"] == "stop"
    assert report.n_answers == report.n_speeches == 8
    assert report.is_complete
    assert told[-1] == (8, 8)


def test_a_speech_for_which_no_answer_can_be_had_is_counted_and_has_no_record(tmp_path: Path) -> None:
    def reply(request: CallRequest) -> str | CallProblem:
        return ItemFailed("content_filter", "Withheld.") if request.subject["turn_index"] == 3 else ANSWER

    report = extract(SPEECHES, EXTRACTOR, PROMPT_, FakeCaller(reply), tmp_path)
    assert [record["turn_index"] for record in records(tmp_path)] == [1, 2, 4, 5, 6, 7, 8]
    assert report.failed == {"content_filter": 1}
    assert report.n_answers == 7
    assert report.is_complete


def test_a_halt_is_told_once_and_leaves_what_was_answered(tmp_path: Path) -> None:
    def reply(request: CallRequest) -> str | CallProblem:
        halted = ProviderHalted("local", "credit", "The credit is used up.", "Buy more.")
        return ANSWER if request.subject["turn_index"] > 5 else halted

    report = extract(SPEECHES, EXTRACTOR, PROMPT_, FakeCaller(reply), tmp_path)
    assert report.n_waiting == 5
    assert not report.is_complete
    assert report.halts == ("local: The credit is used up. Buy more.",)
    assert [record["turn_index"] for record in records(tmp_path)] == [6, 7, 8]


def test_the_speeches_of_an_archive_come_with_motion_and_side(sample: Path) -> None:
    speeches = read_speeches(sample)
    assert len(speeches) == 960
    assert [speech.turn_index for speech in speeches[:8]] == list(range(1, 9))
    assert (speeches[1].session_id, speeches[1].side) == ("S01-en-baseline-r1", "con")
    assert speeches[1].motion_text.startswith("This house would make public transport free")
    some = read_speeches(sample, ["S02-zh-baseline-r1"])
    assert {speech.session_id for speech in some} == {"S02-zh-baseline-r1"}
    with pytest.raises(ArchiveError, match="lacks 1 of the sessions asked for"):
        read_speeches(sample, ["S99"])


def test_an_archive_that_cannot_be_used_is_told_before_the_first_call(tmp_path: Path) -> None:
    archive = ArchiveBuilder()
    archive.add_session("S1")
    archive.add("turns", {"session_id": "S2", "turn_index": 1, "text": "Who am I?"})
    with pytest.raises(ArchiveError, match="turn of session 'S2' and no such session"):
        read_speeches(archive.write(tmp_path / "a"))
    archive.add("turns", b'{"session_id": "S1"')
    with pytest.raises(ArchiveError, match=r"turns\.jsonl cannot be used at line 10"):
        read_speeches(archive.write(tmp_path / "b"))


def test_an_extraction_is_a_part_of_an_archive_like_any_other(sample: Path, tmp_path: Path) -> None:
    speeches = read_speeches(sample, ["S02-zh-baseline-r1"])
    extract(speeches, EXTRACTOR, PROMPT_, FakeCaller(lambda _: ANSWER), tmp_path / "archive" / "extracted")
    (part,) = find_parts(tmp_path / "archive")
    report = read_part(part, tmp_path / "read")
    assert sum(report.rejects.values()) == 0
    assert pq.read_metadata(tmp_path / "read" / "extractions.parquet").num_rows == 8
