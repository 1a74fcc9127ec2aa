"""The lake's promises: a table changes in one step or not at all, and the same content changes nothing."""

import multiprocessing
import os
import time
from pathlib import Path

import pytest

from dagster_project.lake import KEPT_BUILDS, PROJECT_ROOT, Lake, LakeError, resolve_lake


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


def write(lake: Lake, name: str, text: str) -> None:
    with lake.replace(name) as directory:
        (directory / "data.txt").write_text(text)


def test_the_lake_is_named_by_the_environment_then_the_study_then_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REPRISE_LAKE", raising=False)
    assert resolve_lake().root == PROJECT_ROOT / "lake"
    assert resolve_lake("elsewhere").root == PROJECT_ROOT / "elsewhere"
    monkeypatch.setenv("REPRISE_LAKE", "/data/lake")
    assert resolve_lake("elsewhere").root == Path("/data/lake")


def test_the_default_lake_does_not_depend_on_the_working_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("REPRISE_LAKE", raising=False)
    monkeypatch.chdir(tmp_path)
    assert resolve_lake().root == PROJECT_ROOT / "lake"


def test_a_replaced_table_shows_the_new_content(lake: Lake) -> None:
    write(lake, "pairs", "first")
    write(lake, "pairs", "second")
    assert (lake.table("pairs") / "data.txt").read_text() == "second"


def test_a_writer_that_fails_leaves_the_table_as_it_was(lake: Lake) -> None:
    write(lake, "pairs", "first")
    with pytest.raises(RuntimeError), lake.replace("pairs") as directory:
        (directory / "data.txt").write_text("half")
        raise RuntimeError
    assert (lake.table("pairs") / "data.txt").read_text() == "first"
    assert not list((lake.root / "pairs").glob(".draft*"))


def test_the_same_content_keeps_the_same_directory(lake: Lake) -> None:
    write(lake, "pairs", "same")
    before = lake.table("pairs").resolve(), (lake.table("pairs") / "data.txt").stat().st_ino
    write(lake, "pairs", "same")
    assert (lake.table("pairs").resolve(), (lake.table("pairs") / "data.txt").stat().st_ino) == before


def test_a_directory_whose_content_was_damaged_is_written_again(lake: Lake) -> None:
    write(lake, "pairs", "whole")
    (lake.table("pairs") / "data.txt").write_text("tor")
    write(lake, "pairs", "whole")
    assert (lake.table("pairs") / "data.txt").read_text() == "whole"


def test_the_draft_of_a_killed_writer_is_removed_by_the_next_one(lake: Lake) -> None:
    def die_half_way() -> None:
        with lake.replace("pairs") as directory:
            (directory / "data.txt").write_text("half")
            os._exit(1)

    process = multiprocessing.get_context("fork").Process(target=die_half_way)
    process.start()
    process.join()
    assert list((lake.root / "pairs").glob(".draft*"))
    write(lake, "pairs", "whole")
    assert not list((lake.root / "pairs").glob(".draft*"))
    assert (lake.table("pairs") / "data.txt").read_text() == "whole"


def test_a_killed_writers_draft_is_removed_although_its_process_id_lives_on(lake: Lake) -> None:
    """Process ids come round again: a name with the id of a living process says nothing about who wrote it."""
    abandoned = lake.root / "pairs" / f".draft-{os.getpid()}-abandoned"
    abandoned.mkdir(parents=True)
    write(lake, "pairs", "whole")
    assert not abandoned.exists()


def test_a_writer_leaves_the_draft_of_another_that_still_writes(lake: Lake) -> None:
    with lake.replace("pairs") as slow:
        write(lake, "pairs", "quick")
        (slow / "data.txt").write_text("slow")
    assert (lake.table("pairs") / "data.txt").read_text() == "slow"


def test_what_a_link_points_at_is_on_the_disk_before_the_link(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: set[int] = set()
    unsynced: list[str] = []
    sync, replace = os.fsync, Path.replace

    def noted_sync(descriptor: int) -> None:
        synced.add(os.fstat(descriptor).st_ino)
        sync(descriptor)

    def noted_replace(path: Path, target: Path) -> Path:
        if path.is_symlink():
            content = path.resolve()
            below = [content, content.parent, *(content.rglob("*") if content.is_dir() else ())]
            unsynced.extend(str(file) for file in below if file.stat().st_ino not in synced)
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", noted_sync)
    monkeypatch.setattr(Path, "replace", noted_replace)
    with lake.replace("turns") as directory:
        (directory / "language=en").mkdir()
        (directory / "language=en" / "data.txt").write_text("text")
    lake.published.mkdir(parents=True)
    (lake.published / ".draft.duckdb").write_text("build")
    lake.publish(lake.published / ".draft.duckdb", "a" * 64)
    assert len(synced) >= 6
    assert unsynced == []


def test_a_lake_that_cannot_be_made_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LakeError, match=r"file/lake cannot be made \(Not a directory\)"):
        Lake(tmp_path / "file" / "lake").make()


def test_two_writers_at_once_never_leave_a_table_that_points_at_nothing(lake: Lake) -> None:
    write(lake, "pairs", "first")
    context = multiprocessing.get_context("fork")

    def write_many(number: int) -> None:
        for turn in range(40):
            write(lake, "pairs", f"{number} {turn}")

    writers = [context.Process(target=write_many, args=(number,)) for number in range(4)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        # A look can fall between two changes of writers that never rest; a table that points at nothing stays so.
        assert any((lake.root / "pairs" / "current" / "data.txt").exists() for _ in range(5))
    assert [writer.exitcode for writer in writers] == [0] * 4


def test_a_reader_of_one_state_keeps_it_while_the_next_is_written(lake: Lake) -> None:
    write(lake, "pairs", "first")
    reading = lake.table("pairs")
    write(lake, "pairs", "second")
    assert (reading / "data.txt").read_text() == "first"


def test_a_table_that_was_never_written_says_which_asset_writes_it(lake: Lake) -> None:
    with pytest.raises(LakeError, match="Materialize the asset archive_parts first"):
        lake.table("archive_parts/sample")


def test_publishing_switches_the_link_and_keeps_a_few_builds(lake: Lake) -> None:
    lake.published.mkdir(parents=True)
    for number in range(KEPT_BUILDS + 2):
        draft = lake.published / ".draft.duckdb"
        draft.write_text(str(number))
        lake.publish(draft, f"{number}" * 64)
        os.utime(lake.warehouse, (number, number))
        assert lake.warehouse.read_text() == str(number)
    assert len(list(lake.published.iterdir())) == KEPT_BUILDS


def test_a_reader_keeps_the_build_it_opened(lake: Lake) -> None:
    lake.published.mkdir(parents=True)
    (lake.published / ".draft.duckdb").write_text("old")
    lake.publish(lake.published / ".draft.duckdb", "a" * 64)
    with lake.warehouse.open() as reader:
        (lake.published / ".draft.duckdb").write_text("new")
        lake.publish(lake.published / ".draft.duckdb", "b" * 64)
        assert reader.read() == "old"
    assert lake.warehouse.read_text() == "new"


def _hold(lake: Lake, seconds: float) -> None:
    with lake.writer():
        (lake.root / "held").touch()
        time.sleep(seconds)
        (lake.root / "held").unlink()


def test_a_second_writer_waits_for_the_first(lake: Lake) -> None:
    process = multiprocessing.get_context("fork").Process(target=_hold, args=(lake, 0.5))
    process.start()
    while not (lake.root / "held").exists():
        time.sleep(0.01)
    with lake.writer():
        assert not (lake.root / "held").exists()
    process.join()


def test_the_writer_slot_of_a_killed_process_is_free(lake: Lake) -> None:
    process = multiprocessing.get_context("fork").Process(target=_hold, args=(lake, 60))
    process.start()
    while not (lake.root / "held").exists():
        time.sleep(0.01)
    process.kill()
    process.join()
    with lake.writer():
        pass
