"""One test for each kind of damage an archive can arrive with, from the files to what the snapshot says."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from ingest.archive import find_parts
from ingest.errors import ArchiveError
from tests.ingest.archives import ArchiveBuilder, Load, session, turn


@pytest.fixture
def complete(archive: ArchiveBuilder) -> ArchiveBuilder:
    """Two complete sessions."""
    archive.add("motions", {"motion_id": "M1", "texts": {"en": "This house would plant more trees."}})
    archive.add_session("S1")
    archive.add_session("S2", repeat=2)
    return archive


def test_the_undamaged_archive_has_nothing_to_say(complete: ArchiveBuilder, load: Load) -> None:
    loaded = load(complete)
    assert loaded.report.n_rejects == loaded.report.n_integrity == 0
    assert loaded.report.tables["turns"].kept == 16


def test_a_truncated_gzip_gives_one_reject_for_the_file_and_no_turns(
    complete: ArchiveBuilder, load: Load, tmp_path: Path
) -> None:
    directory = complete.write(tmp_path / "archive")
    raw = gzip.compress((directory / "turns.jsonl").read_bytes())
    (directory / "turns.jsonl").unlink()
    (directory / "turns.jsonl.gz").write_bytes(raw[: len(raw) // 2])
    loaded = load(directory)
    (reject,) = [row for row in loaded.rejects() if row["table_name"] == "turns"]
    assert (reject["file"], reject["line"], reject["reason"]) == ("turns.jsonl.gz", None, "truncated_gzip")
    assert loaded.report.tables["turns"].kept == 0
    assert loaded.report.integrity == {"missing_turns": 2, "no_records": 1}
    assert ("extractions", "turn_missing") in loaded.reasons()


def test_a_line_cut_in_the_middle_is_a_reject_with_its_line_number(complete: ArchiveBuilder, load: Load) -> None:
    complete.lines["turns"][4] = complete.lines["turns"][4][:40]
    loaded = load(complete)
    (reject,) = [row for row in loaded.rejects() if row["table_name"] == "turns"]
    assert (reject["line"], reject["reason"], reject["record_id"]) == (5, "truncated", None)
    assert reject["raw_line"].encode() == complete.lines["turns"][4]
    assert loaded.report.integrity == {"missing_turns": 1}


def test_latin_1_bytes_reject_their_line_alone(complete: ArchiveBuilder, load: Load) -> None:
    complete.lines["turns"][0] = json.dumps(turn("S1", 1, text="déjà vu"), ensure_ascii=False).encode("latin-1")
    loaded = load(complete)
    assert ("turns", "not_utf8") in loaded.reasons()
    assert loaded.report.tables["turns"].kept == 15


def test_a_byte_order_mark_and_crlf_change_nothing(complete: ArchiveBuilder, load: Load, tmp_path: Path) -> None:
    directory = complete.write(tmp_path / "plain" / "archive")
    windows = tmp_path / "windows" / "archive"
    windows.mkdir(parents=True)
    for path in directory.iterdir():
        (windows / path.name).write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    plain, marked = load(directory), load(windows)
    assert marked.by_language("turns") == plain.by_language("turns")
    assert marked.report == plain.report


def test_a_session_with_seven_turns_is_a_finding_that_lists_the_missing_one(
    archive: ArchiveBuilder, load: Load
) -> None:
    archive.add_session("S1", turns=range(1, 8))
    archive.add_session("S2", turns=range(3, 8), repeat=2)
    loaded = load(archive)
    assert loaded.report.n_rejects == 0
    assert [(row["rule"], row["session_id"], row["turn_index"]) for row in loaded.rows("integrity")] == [
        ("missing_turns", "S1", None),
        ("missing_turns", "S2", None),
    ]
    assert "has 7 of 8 turns; turn 8 is missing." in loaded.rows("integrity")[0]["detail"]
    assert "turns 1, 2, 8 are missing." in loaded.rows("integrity")[1]["detail"]


def test_a_session_that_says_itself_that_it_is_partial_is_a_finding_with_its_reason(
    archive: ArchiveBuilder, load: Load
) -> None:
    archive.add_session("S1", turns=range(1, 9), status="partial", status_reason="agent_a spoke as x-1 and as x-2.")
    archive.add_session("S2", turns=range(1, 9), repeat=2)
    [finding] = load(archive).rows("integrity")
    assert (finding["rule"], finding["session_id"]) == ("said_incomplete", "S1")
    assert finding["detail"].endswith(" is partial, as it says: agent_a spoke as x-1 and as x-2.")


def test_two_different_sessions_with_one_id_are_both_rejected(complete: ArchiveBuilder, load: Load) -> None:
    complete.add("sessions", session("S1", condition="diversity"))
    loaded = load(complete)
    assert [row["session_id"] for row in loaded.rows("sessions")] == ["S2"]
    assert sum(row["reason"] == "conflicting_duplicate" for row in loaded.rejects()) == 2
    assert sum(row["reason"] == "session_rejected" for row in loaded.rejects()) == 16


def test_an_unknown_language_is_rejected_with_the_known_ones_named(archive: ArchiveBuilder, load: Load) -> None:
    archive.add_session("S1", language="../en")
    loaded = load(archive)
    (reject,) = [row for row in loaded.rejects() if row["table_name"] == "sessions"]
    assert reject["reason"] == "unknown_language"
    assert "en, es, et" in reject["detail"]
    assert sorted(path.name for path in (loaded.directory / "turns").iterdir())[0] == "language=ar"


@pytest.mark.parametrize("name", ["turns.jsonl", "turns.jsonl.gz"])
def test_an_empty_file_is_a_finding_beside_what_it_causes(
    complete: ArchiveBuilder, load: Load, tmp_path: Path, name: str
) -> None:
    directory = complete.write(tmp_path / "archive")
    (directory / "turns.jsonl").unlink()
    (directory / name).write_bytes(b"")
    loaded = load(directory)
    assert loaded.report.integrity == {"empty_file": 1, "missing_turns": 2, "no_records": 1}
    assert name in loaded.rows("integrity")[0]["detail"]


def test_an_empty_file_of_an_optional_table_is_no_finding(complete: ArchiveBuilder, load: Load, tmp_path: Path) -> None:
    directory = complete.write(tmp_path / "archive")
    (directory / "judgments.jsonl").write_bytes(b"")
    (directory / "annotations.csv").write_bytes(b"")
    assert load(directory).report.n_integrity == 0


def test_a_missing_file_is_a_finding(complete: ArchiveBuilder, load: Load) -> None:
    del complete.lines["extractions"]
    loaded = load(complete)
    assert loaded.report.integrity == {"no_records": 1}
    assert "for extractions" in loaded.rows("integrity")[0]["detail"]
    assert {note.code for note in loaded.report.notes} == {"turn_without_extraction"}


def test_a_directory_in_place_of_a_file_is_refused(complete: ArchiveBuilder, tmp_path: Path) -> None:
    directory = complete.write(tmp_path / "archive")
    (directory / "turns.jsonl").unlink()
    (directory / "turns.jsonl").mkdir()
    with pytest.raises(ArchiveError, match=r"turns\.jsonl is a directory\. Replace it"):
        find_parts(directory)


def test_a_50_mb_line_is_rejected_and_the_rest_is_used(complete: ArchiveBuilder, load: Load) -> None:
    complete.lines["turns"].insert(0, b'{"text": "' + b"x" * 50_000_000 + b'"}')
    loaded = load(complete)
    (reject,) = loaded.rejects()
    assert (reject["line"], reject["reason"], len(reject["raw_line"])) == (1, "line_too_long", 65_536)
    assert loaded.report.tables["turns"].kept == 16


@pytest.mark.parametrize("session_id", ["../../outside", "quo\"te'd", "a/b", "S 1", "会话", "S1; drop table turns"])
def test_odd_ids_are_values_and_never_paths(archive: ArchiveBuilder, load: Load, session_id: str) -> None:
    archive.add_session(session_id, motion_id="../m", condition="../c")
    loaded = load(archive)
    assert loaded.report.n_rejects == loaded.report.n_integrity == 0
    assert {row["session_id"] for row in loaded.by_language("turns")} == {session_id}
    written = {path.parts[0] for path in (p.relative_to(loaded.directory) for p in loaded.directory.rglob("*"))}
    assert {name.removesuffix(".parquet") for name in written} == {
        "motions",
        "sessions",
        "turns",
        "extractions",
        "annotations",
        "judgments",
        "rejects",
        "integrity",
    }


def test_unknown_fields_survive_to_the_snapshot(archive: ArchiveBuilder, load: Load) -> None:
    archive.add_session("S1")
    archive.lines["turns"][0] = json.dumps(turn("S1", 1, seed=7, note="界")).encode()
    (row,) = [row for row in load(archive).by_language("turns") if row["turn_index"] == 1]
    assert json.loads(row["extra"]) == {"seed": 7, "note": "界"}


def test_an_archive_in_which_nothing_is_usable_says_so(archive: ArchiveBuilder, load: Load) -> None:
    archive.add("sessions", b"not json", b"\xff\xfe{\x00}\x00")
    loaded = load(archive)
    assert loaded.report.integrity == {"no_records": 3}
    assert loaded.report.n_rejects == 2
    assert loaded.by_language("turns") == []
