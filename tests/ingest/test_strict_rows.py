"""Archives read by those who spend money on them, and the one writer of JSON Lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.archive.strict_rows import archive_rows, file_rows
from ingest.archive.write import write_jsonl
from ingest.errors import ArchiveError
from tests.ingest.archives import ArchiveBuilder, session, turn


def test_rows_come_from_all_parts_in_the_order_of_the_files_each_once(tmp_path: Path) -> None:
    for name, ids in (("b", ("S3", "S1")), ("a", ("S2", "S1"))):
        archive = ArchiveBuilder()
        archive.add("sessions", *(session(session_id) for session_id in ids))
        archive.write(tmp_path / name)
    assert [row["session_id"] for row in archive_rows(tmp_path, "sessions")] == ["S2", "S1", "S3"]
    assert archive_rows(tmp_path, "turns") == []


def test_the_first_record_that_cannot_be_used_is_named_with_its_remedy(tmp_path: Path) -> None:
    archive = ArchiveBuilder()
    archive.add("turns", turn("S1", 1), {"session_id": "S1", "turn_index": "2", "text": "x"})
    directory = archive.write(tmp_path)
    with pytest.raises(
        ArchiveError, match=r"turns\.jsonl cannot be used at line 2. turn_index is a string; write a whole"
    ):
        file_rows(directory / "turns.jsonl", "turns")


def test_two_records_that_disagree_are_refused(tmp_path: Path) -> None:
    archive = ArchiveBuilder()
    archive.add("turns", turn("S1", 1), {**turn("S1", 1), "text": "Something else."})
    with pytest.raises(ArchiveError, match=r"something else in line 2 about S1/1"):
        archive_rows(archive.write(tmp_path), "turns")


def test_a_truncated_gzip_is_refused(tmp_path: Path) -> None:
    import gzip

    whole = gzip.compress(b'{"session_id": "S1", "turn_index": 1, "text": "x"}\n' * 500)
    (tmp_path / "turns.jsonl.gz").write_bytes(whole[:-20])
    with pytest.raises(ArchiveError, match="cannot be read to its end"):
        archive_rows(tmp_path, "turns")


def test_a_file_is_replaced_in_one_step_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "new" / "out.jsonl"
    assert write_jsonl(file, [{"text": "é\u2028\n"}, {"text": "中"}]) == 2
    before = file.read_bytes()
    assert before == '{"text": "é\u2028\\n"}\n{"text": "中"}\n'.encode()

    def broken():
        yield {"text": "half"}
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        write_jsonl(file, broken())
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]
