from __future__ import annotations

from pathlib import Path

import pytest

from ingest.archive import files_not_read, find_parts
from ingest.errors import ArchiveError


def touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"{}\n")


def test_a_directory_with_archive_files_is_one_part_named_after_itself(tmp_path: Path) -> None:
    archive = tmp_path / "My Archive (2026)"
    touch(archive / "turns.jsonl", archive / "sessions.jsonl.gz", archive / "README.md", archive / "turn.jsonl")
    (part,) = find_parts(archive)
    assert part.name == "my-archive-2026"
    assert {table: path.name for table, path in part.files.items()} == {
        "turns": "turns.jsonl",
        "sessions": "sessions.jsonl.gz",
    }
    assert part.other_files == ("turn.jsonl",)


def test_data_files_that_no_part_reads_are_found_wherever_they_lie(tmp_path: Path) -> None:
    touch(tmp_path / "en" / "turns.jsonl", tmp_path / "en" / "Sessions.JSONL", tmp_path / "extra.csv")
    touch(
        tmp_path / "en" / "old" / "turns.jsonl.gz", tmp_path / "en" / "README.md", tmp_path / ".trash" / "turns.jsonl"
    )
    parts = find_parts(tmp_path)
    assert files_not_read(tmp_path, parts) == ["en/Sessions.JSONL", "en/old/turns.jsonl.gz", "extra.csv"]
    assert parts[0].other_files == ("Sessions.JSONL",)


def test_the_working_directory_is_named_by_its_own_name(tmp_path: Path, monkeypatch) -> None:
    touch(tmp_path / "Sample" / "turns.jsonl")
    monkeypatch.chdir(tmp_path / "Sample")
    assert find_parts(Path())[0].name == "sample"


def test_sub_directories_with_archive_files_are_parts_in_order_of_name(tmp_path: Path) -> None:
    touch(tmp_path / "zh" / "turns.jsonl", tmp_path / "ar" / "motions.jsonl", tmp_path / "notes" / "README.md")
    assert [part.name for part in find_parts(tmp_path)] == ["ar", "zh"]


@pytest.mark.parametrize(
    ("files", "directories", "said"),
    [
        ([], [], "holds no archive files"),
        (["turns.jsonl", "turns.jsonl.gz"], [], "holds both turns.jsonl and turns.jsonl.gz"),
        (["turns.jsonl", "more/turns.jsonl"], [], "in sub-directories (more)"),
        (["a b/turns.jsonl", "a-b/turns.jsonl"], [], "both of which would be part 'a-b'"),
        (["sessions.jsonl"], ["turns.jsonl"], "turns.jsonl is a directory"),
    ],
)
def test_an_archive_without_one_reading_is_refused_in_a_sentence(tmp_path: Path, files, directories, said) -> None:
    touch(*(tmp_path / name for name in files))
    for name in directories:
        (tmp_path / name).mkdir()
    with pytest.raises(ArchiveError) as caught:
        find_parts(tmp_path)
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path))
    assert str(caught.value).endswith(".")


def test_a_path_that_is_missing_or_a_file_is_refused(tmp_path: Path) -> None:
    touch(tmp_path / "turns.jsonl")
    with pytest.raises(ArchiveError, match="does not exist"):
        find_parts(tmp_path / "nowhere")
    with pytest.raises(ArchiveError, match="is not a directory"):
        find_parts(tmp_path / "turns.jsonl")


def test_a_link_to_nowhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "turns.jsonl").symlink_to(tmp_path / "gone.jsonl")
    with pytest.raises(ArchiveError, match="is not a file that can be read"):
        find_parts(tmp_path)


def test_the_fingerprint_follows_names_and_bytes_and_nothing_else(tmp_path: Path) -> None:
    touch(tmp_path / "a" / "turns.jsonl", tmp_path / "b" / "turns.jsonl", tmp_path / "c" / "sessions.jsonl")
    touch(tmp_path / "b" / "README.md")
    a, b, c = (part.fingerprint() for part in find_parts(tmp_path))
    assert a == b != c
    (tmp_path / "b" / "turns.jsonl").write_bytes(b"{}\n\n")
    assert find_parts(tmp_path)[1].fingerprint() != b
