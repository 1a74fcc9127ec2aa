"""A run repeated, or with more data than the last: only what is new is computed."""

from pathlib import Path

from tests.end_to_end.conftest import Workplace, copy_of, small_archive, workplace


def files(place: Workplace, table: str) -> dict[str, int]:
    folder = place.lake / table
    return {str(file.relative_to(folder)): file.stat().st_mtime_ns for file in sorted(folder.rglob("*.parquet"))}


def test_a_second_run_encodes_nothing_and_changes_nothing(small: Workplace, tmp_path: Path) -> None:
    place = copy_of(small, tmp_path / "again")

    def state() -> tuple:
        return place.warehouse.resolve(), place.warehouse.read_bytes(), files(place, "vectors"), files(place, "archive")

    before = state()
    assert "0 texts encoded" in place.must_run("run")
    assert state() == before


def test_added_debates_encode_only_their_own_texts(small: Workplace, tmp_path: Path) -> None:
    place = copy_of(small, tmp_path / "more")
    count_texts = "select n_texts from marts.encoders"
    n_before = place.query(count_texts)[0][0]
    vectors_before = files(place, "vectors")
    small_archive(place.archive, motions=["S01", "S02", "S03"])
    output = place.must_run("run")
    n_after = place.query(count_texts)[0][0]
    assert n_after > n_before
    assert f"{n_after - n_before:,} texts encoded, {n_before:,} known" in output
    assert vectors_before.items() <= files(place, "vectors").items()


def test_an_archive_in_two_parts_gives_the_numbers_of_one(small: Workplace, tmp_path: Path) -> None:
    place = workplace(tmp_path)
    small_archive(place.archive / "first", conditions=["baseline"])
    small_archive(place.archive / "second", conditions=["diversity"])
    place.must_run("run")
    numbers = "from marts.gap_estimates order by all"
    assert place.query(numbers) == small.query(numbers)
