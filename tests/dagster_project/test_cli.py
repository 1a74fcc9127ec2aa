"""What a person is told who names a folder that cannot be used: a sentence with the folder, before anything starts."""

import os
from pathlib import Path

import pytest

from dagster_project import cli
from dagster_project.lake import LakeError


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lake that is not there yet, and no home of Dagster's."""
    lake = tmp_path / "lake"
    monkeypatch.setenv("REPRISE_LAKE", str(lake))
    monkeypatch.setenv("DAGSTER_HOME", "")
    return lake


def test_the_records_of_runs_lie_beside_the_lake_they_are_of(lake: Path) -> None:
    cli._prepare_instance_home()
    assert os.environ["DAGSTER_HOME"] == str(lake / ".dagster_home")
    assert (lake / ".dagster_home" / "dagster.yaml").is_file()


def test_a_home_that_somebody_set_up_keeps_its_settings(
    lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "dagster.yaml").write_text("telemetry: {enabled: true}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DAGSTER_HOME", "home")
    cli._prepare_instance_home()
    assert os.environ["DAGSTER_HOME"] == str(tmp_path / "home")
    assert (tmp_path / "home" / "dagster.yaml").read_text() == "telemetry: {enabled: true}"


@pytest.mark.parametrize("kind", ["file", "loop", "nobody"])
def test_a_home_of_dagster_that_cannot_be_one_is_refused_by_name(
    lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    home = "~nobody-of-this-name/home" if kind == "nobody" else str(tmp_path / kind)
    monkeypatch.setenv("DAGSTER_HOME", home)
    with pytest.raises(LakeError, match=f"{home}, cannot be used: .* Set DAGSTER_HOME to another folder, or unset it"):
        cli._prepare_instance_home()


def test_a_lake_below_a_file_is_refused_as_a_lake_not_as_a_home_of_dagster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("REPRISE_LAKE", str(tmp_path / "file" / "lake"))
    with pytest.raises(LakeError, match=r"The lake .*file/lake cannot be made"):
        cli._prepare_instance_home()


def test_a_folder_of_nobody_is_told_in_a_line(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--lake", "~nobody-of-this-name/lake", "gaps"]) == 1
    told = capsys.readouterr().err
    assert "'~nobody-of-this-name/lake' is no path that can be followed" in told
    assert told.count("\n") == 1
