"""Debates translated into the reference language, and sent there and back."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest.archive.strict_rows import archive_rows
from ingest.errors import ArchiveError
from ingest.run.call import CallProblem, CallRequest, ItemFailed
from ingest.translate import ModelTranslator, TranscriptReport, translate_debates
from tests.ingest.fake_caller import FakeCaller, agent

SAMPLE = Path(__file__).parents[3] / "sample"
TRANSLATED, ROUND_TRIP = "baseline translated from zh", "baseline round trip through zh"


def reply(request: CallRequest) -> str | CallProblem:
    """Marks the text that it was given with the language that it was to be put into."""
    text = request.messages[0]["content"].split("Speech:\n")[1].split("\n\nYour whole answer")[0]
    return json.dumps({"translation": f"<{request.subject['language']}>{text}"})


def translate(archive: Path, dest: Path, caller: FakeCaller | None = None, **options: Any) -> TranscriptReport:
    caller = caller or FakeCaller(reply)
    into = ModelTranslator(agent("mt"), caller, "en", task="translate_speech")
    out_of = ModelTranslator(agent("mt"), caller, "zh", task="translate_speech")
    return translate_debates(archive, dest, into, out_of, **({"language": "zh", "motions": ["S01", "S02"]} | options))


def lines(path: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())


def test_foreign_debates_are_translated_and_native_ones_go_there_and_back(tmp_path: Path) -> None:
    report = translate(SAMPLE, tmp_path / "rescored")
    assert (report.n_translated, report.n_round_trip, report.unpaired, report.problems) == (2, 2, (), {})

    # Read back by the archive's own reader: a part like any other.
    sessions = {row["session_id"]: row for row in archive_rows(tmp_path / "rescored", "sessions")}
    texts, before = (
        {(row["session_id"], row["turn_index"]): row["text"] for row in archive_rows(archive, "turns")}
        for archive in (tmp_path / "rescored", SAMPLE)
    )
    assert {row["condition"] for row in sessions.values()} == {TRANSLATED, ROUND_TRIP}
    assert {row["language"] for row in sessions.values()} == {"en"}
    for turn in range(1, 9):
        foreign, native = before["S01-zh-baseline-r1", turn], before["S01-en-baseline-r1", turn]
        assert texts["S01-zh-baseline-r1--translated-from-zh", turn] == f"<en>{foreign}"
        assert texts["S01-en-baseline-r1--round-trip-through-zh", turn] == f"<en><zh>{native}"
    assert len(texts) == 4 * 8


def test_a_translation_says_what_it_was_made_of_and_carries_the_motion_of_its_new_language(tmp_path: Path) -> None:
    translate(SAMPLE, tmp_path / "rescored")
    originals = {row["session_id"]: row for row in lines(SAMPLE / "sessions.jsonl")}
    for row in lines(tmp_path / "rescored" / "sessions.jsonl"):
        original = originals[row["derived_from"]]
        assert row["translator"] == ("mt" if row["condition"] == TRANSLATED else "mt, mt")
        assert row["motion_text"] == originals[f"{row['motion_id']}-en-baseline-r1"]["motion_text"]
        assert {name: row[name] for name in ("motion_id", "repeat", "role_mapping", "agents")} == {
            name: original[name] for name in ("motion_id", "repeat", "role_mapping", "agents")
        }
    turns = list(lines(tmp_path / "rescored" / "turns.jsonl"))
    assert {row["derived_from"] for row in turns} == {
        f"S0{n}-{code}-baseline-r1" for n in (1, 2) for code in ("en", "zh")
    }
    # A prompt's hash and a model's tokens belong to the answer, not to its translation.
    assert all(name not in row for row in turns for name in ("prompt_sha256", "usage", "finish_reason", "created_at"))
    assert all(row["agent"] and row["role"] and row["side"] and row["phase"] for row in turns)


def test_a_session_with_a_turn_that_was_not_translated_is_left_out_and_named(tmp_path: Path) -> None:
    def fails_once(request: CallRequest) -> str | CallProblem:
        place = (request.subject["session_id"], request.subject["turn_index"], request.subject["language"])
        if place == ("S01-zh-baseline-r1", 3, "en"):
            return ItemFailed("content_filter", "The provider's filter withheld the answer.")
        if place == ("S02-en-baseline-r1", 5, "en"):
            return "Sorry."
        return reply(request)

    report = translate(SAMPLE, tmp_path / "rescored", FakeCaller(fails_once))
    assert (report.n_translated, report.n_round_trip) == (1, 1)
    assert "turn 3 into en: The provider's filter" in report.problems["S01-zh-baseline-r1"]
    assert "turn 5 into en: the answer is no JSON object" in report.problems["S02-en-baseline-r1"]
    assert {row["derived_from"] for row in lines(tmp_path / "rescored" / "sessions.jsonl")} == {
        "S02-zh-baseline-r1",
        "S01-en-baseline-r1",
    }


def test_only_complete_debates_that_both_languages_have_are_taken(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    archive.mkdir()
    shutil.copy(SAMPLE / "turns.jsonl", archive)
    sessions = list(lines(SAMPLE / "sessions.jsonl"))
    for row in sessions:
        if row["session_id"] == "S01-en-baseline-r1":
            row["status"] = "partial"
    kept = [row for row in sessions if row["session_id"] != "S03-zh-baseline-r1"]
    (archive / "sessions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept), encoding="utf-8")
    report = translate(archive, tmp_path / "rescored", motions=["S01", "S02", "S03"])
    assert (report.n_translated, report.n_round_trip) == (1, 1)
    assert report.unpaired == ("S01/1", "S03/1")


def test_an_archive_without_a_pair_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    caller = FakeCaller(reply)
    with pytest.raises(ArchiveError, match="no motion with a complete debate of condition 'diverse' in both 'zh' and"):
        translate(SAMPLE, tmp_path / "rescored", caller, condition="diverse")
    assert caller.asked == []
    assert not (tmp_path / "rescored").exists()


def test_progress_counts_every_passage_of_all_three_translations(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    translate(SAMPLE, tmp_path / "rescored", progress=lambda done, total: seen.append((done, total)))
    # Two debates of eight turns out of Chinese, two into it and back.
    assert seen == [(n, 48) for n in range(1, 49)]


def test_a_model_is_told_to_translate_and_is_asked_about_each_direction(tmp_path: Path) -> None:
    caller = FakeCaller(reply)
    translate(SAMPLE, tmp_path / "rescored", caller)
    asked = [request.messages[0]["content"] for request in caller.asked]
    assert sum("from Chinese into English" in prompt for prompt in asked) == 32
    assert sum("from English into Chinese" in prompt for prompt in asked) == 16
    assert {request.stage for request in caller.asked} == {"translation"}
    assert {request.sampling["max_tokens"] for request in caller.asked} == {3000}
