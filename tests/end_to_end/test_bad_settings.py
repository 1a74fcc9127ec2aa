"""What a person is told who names something that cannot be used: a sentence, never a traceback."""

from pathlib import Path

import pytest

from tests.end_to_end.conftest import Workplace, workplace


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    return workplace(tmp_path / "place")


def refused(place: Workplace, *command: str) -> str:
    status, told = place.run(*command)
    assert status == 1
    assert "Traceback" not in told
    return told


@pytest.mark.parametrize("kind", ["file", "loop", "pattern", "column"])
def test_a_lake_that_cannot_be_one_is_refused_by_name(place: Workplace, kind: str) -> None:
    path = place.folder / {"file": "file", "loop": "loop", "pattern": "lake[1]", "column": "a=b"}[kind]
    if kind == "file":
        path.touch()
    elif kind == "loop":
        path.symlink_to(path)
    told = refused(place, "--lake", str(path), "gaps")
    assert str(path) in told


def test_an_archive_that_leads_in_a_circle_is_refused_by_name(place: Workplace) -> None:
    (place.folder / "loop").symlink_to("loop")
    assert "archive" in refused(place, "--archive", str(place.folder / "loop"), "gaps")


@pytest.mark.parametrize("kind", ["folder", "garbage"])
def test_what_is_no_warehouse_is_not_read_as_one(place: Workplace, kind: str) -> None:
    place.lake.mkdir()
    if kind == "folder":
        place.warehouse.mkdir()
    else:
        place.warehouse.write_text("not a database")
    assert str(place.warehouse) in refused(place, "gaps")


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("seed_of_all: 1", ["seed_of_all", "known settings", "estimator"]),
        ("estimator: {seed: 99999999999999999999}", ["estimator.seed"]),
        ("reference_language: xx", ["xx", "languages.csv"]),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(place: Workplace, setting: str, words: list[str]) -> None:
    study = Path(place.study)
    text = study.read_text(encoding="utf-8")
    if setting.startswith("estimator"):
        text = "\n".join(line for line in text.split("\n") if not line.startswith("estimator"))
    study.write_text(f"{text}\n{setting}\n", encoding="utf-8")
    told = refused(place, "gaps")
    assert all(word in told for word in words)
