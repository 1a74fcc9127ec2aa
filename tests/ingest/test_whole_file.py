from pathlib import Path

import pytest

from ingest.whole_file import whole_file


def test_a_file_takes_the_place_of_the_old_one_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file.txt"
    for content in ("old\r\n", "new\n"):
        with whole_file(path) as file:
            file.write(content)
    assert path.read_bytes() == b"new\n"
    assert list(path.parent.iterdir()) == [path]


def test_a_writer_that_fails_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), whole_file(path) as file:
        file.write("half of the new")
        raise ZeroDivisionError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
