"""What a person is told about an archive that cannot be used, and what stays as it was."""

import gzip
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.end_to_end.conftest import Workplace, copy_of, small_archive, workplace


def lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").rstrip("\n").split("\n")


def rewrite(file: Path, records: list[str]) -> None:
    file.write_text("\n".join(records) + "\n", encoding="utf-8")


def truncated_gzip(archive: Path) -> None:
    packed = gzip.compress((archive / "turns.jsonl").read_bytes())
    (archive / "turns.jsonl").unlink()
    (archive / "turns.jsonl.gz").write_bytes(packed[: len(packed) // 2])


def cut_line(archive: Path) -> None:
    records = lines(archive / "turns.jsonl")
    records[3] = records[3][:80]
    rewrite(archive / "turns.jsonl", records)


def latin_1(archive: Path) -> None:
    content = (archive / "turns.jsonl").read_bytes().split(b"\n")
    content[0] = content[0].replace(b'"text": "', b'"text": "caf\xe9 ', 1)
    (archive / "turns.jsonl").write_bytes(b"\n".join(content))


def seven_turns(archive: Path) -> None:
    rewrite(archive / "turns.jsonl", lines(archive / "turns.jsonl")[:-1])
    rewrite(archive / "extractions.jsonl", lines(archive / "extractions.jsonl")[:-1])


def two_turns_with_one_id(archive: Path) -> None:
    records = lines(archive / "turns.jsonl")
    rewrite(archive / "turns.jsonl", [*records, json.dumps(json.loads(records[0]) | {"text": "Something else."})])


def turn_without_session(archive: Path) -> None:
    rewrite(archive / "sessions.jsonl", lines(archive / "sessions.jsonl")[1:])


def unknown_language(archive: Path) -> None:
    records = [json.loads(record) for record in lines(archive / "sessions.jsonl")]
    records[0]["language"] = "tlh"
    rewrite(archive / "sessions.jsonl", [json.dumps(record) for record in records])


def empty_file(archive: Path) -> None:
    (archive / "turns.jsonl").write_bytes(b"")


def huge_line(archive: Path) -> None:
    records = lines(archive / "turns.jsonl")
    records[0] = json.dumps(json.loads(records[0]) | {"text": "x" * 50_000_000})
    rewrite(archive / "turns.jsonl", records)


def no_arguments(archive: Path) -> None:
    records = [
        json.loads(record) | {"raw_response": '{"arguments": []}'} for record in lines(archive / "extractions.jsonl")
    ]
    rewrite(archive / "extractions.jsonl", [json.dumps(record) for record in records])


def no_archive(archive: Path) -> None:
    for file in archive.iterdir():
        file.unlink()


BAD: dict[str, tuple[Callable[[Path], None], list[str]]] = {
    "truncated_gzip": (truncated_gzip, ["files_readable", "turns.jsonl.gz", "breaks off"]),
    "cut_line": (cut_line, ["no_rejects", "turns.jsonl line 4"]),
    "latin_1": (latin_1, ["no_rejects", "turns.jsonl line 1", "UTF-8"]),
    "seven_turns": (seven_turns, ["sessions_complete", "7 of 8", "incomplete_sessions: exclude"]),
    "two_turns_with_one_id": (two_turns_with_one_id, ["no_rejects", "S01-en-baseline-r1/1", "2 more"]),
    "turn_without_session": (turn_without_session, ["no_rejects", "S01-en-baseline-r1"]),
    "unknown_language": (unknown_language, ["no_rejects", "tlh"]),
    "empty_file": (empty_file, ["archive_present", "turns.jsonl"]),
    "huge_line": (huge_line, ["no_rejects", "turns.jsonl line 1", "16"]),
    "no_arguments": (no_arguments, ["arguments_present", "None of 32 answers"]),
    "no_archive": (no_archive, ["holds no archive files", "sessions.jsonl"]),
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Workplace, int, str]]:
    """Each bad archive, run from the command line; two at a time, for most of a run is starting up."""

    # Made here: two threads that ask for a first folder at once are in each other's way.
    home = tmp_path_factory.mktemp("bad")

    def outcome(case: str) -> tuple[Workplace, int, str]:
        place = workplace(home / case)
        small_archive(place.archive, motions=["S01"])
        BAD[case][0](place.archive)
        return place, *place.run("run")

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(BAD, pool.map(outcome, BAD), strict=True))


@pytest.mark.parametrize("case", BAD)
def test_a_bad_archive_is_refused_in_words(outcomes: dict[str, tuple[Workplace, int, str]], case: str) -> None:
    _, status, told = outcomes[case]
    assert status == 1
    assert "Traceback" not in told
    assert 'File "' not in told
    for words in BAD[case][1]:
        assert words in told
    assert "Nothing was published" in told


@pytest.mark.parametrize("case", BAD)
def test_a_bad_archive_publishes_nothing(outcomes: dict[str, tuple[Workplace, int, str]], case: str) -> None:
    place, _, _ = outcomes[case]
    assert not place.warehouse.exists()


def test_every_unusable_record_is_in_the_rejects_with_its_line(
    outcomes: dict[str, tuple[Workplace, int, str]],
) -> None:
    place, _, _ = outcomes["cut_line"]
    rejects = pq.read_table(place.lake / "archive" / "current" / "rejects.parquet").to_pylist()
    first = next(row for row in rejects if row["line"] == 4 and row["file"] == "turns.jsonl")
    assert first["raw_line"] == lines(place.archive / "turns.jsonl")[3]


def test_a_bad_delivery_leaves_the_published_warehouse_in_place_and_a_mended_one_replaces_it(
    small: Workplace, tmp_path: Path
) -> None:
    place = copy_of(small, tmp_path / "mended")
    published = place.warehouse.resolve()
    seven_turns(place.archive)
    status, told = place.run("run")
    assert status == 1
    assert "the warehouse of the last good run stays in place" in told
    assert place.warehouse.resolve() == published

    study = Path(place.study)
    study.write_text(study.read_text() + "incomplete_sessions: exclude\n")
    place.must_run("run")
    n_sessions, n_in_analysis = place.query("select count(*), count(*) filter (in_analysis) from marts.sessions")[0]
    assert (n_sessions, n_in_analysis) == (8, 7)
    assert place.query("select count(distinct session_id) from marts.session_similarity") == [(7,)]


def test_odd_but_readable_archives_give_the_numbers_of_the_plain_one(small: Workplace, tmp_path: Path) -> None:
    """A byte order mark, CRLF, gzip, other spellings, and ids that would do harm as a path, a quote or a wildcard."""
    place = workplace(tmp_path / "somebody's ördner")
    small_archive(place.archive)
    for table in ("motions", "sessions", "turns", "extractions"):
        file = place.archive / f"{table}.jsonl"
        text = file.read_text(encoding="utf-8")
        for motion, odd in (("S01", "../../S01'; drop table"), ("S02", 'S"02%_\\u2028')):
            text = text.replace(f'"session_id": "{motion}', f'"session_id": "{odd}'.replace('S"', 'S\\"'))
        text = text.replace('"cross_exam"', '"Cross-exam."').replace('"pro_1", "side"', '"Pro First Speaker", "side"')
        file.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    turns = place.archive / "turns.jsonl"
    (place.archive / "turns.jsonl.gz").write_bytes(gzip.compress(turns.read_bytes()))
    turns.unlink()
    place.must_run("run")
    numbers = "select motion_id, language, condition, gap from marts.language_gaps order by all"
    assert place.query(numbers) == small.query(numbers)
    odd_ids = place.query("select session_id from marts.sessions where session_id like '../../S01''; drop table%'")
    assert len(odd_ids) == 4
    assert not [path for path in tmp_path.rglob("*") if "drop" in path.name]
