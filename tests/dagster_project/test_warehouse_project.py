"""The manifest follows the project in one step, and what failed in dbt is told in a line."""

import json
import os
from pathlib import Path

import pytest
from dagster_dbt.errors import DagsterDbtCliRuntimeError

from dagster_project import warehouse_project
from dagster_project.warehouse_project import forget_results, fresh_manifest, what_failed


class Project:
    """A dbt project of two files, and a parser that counts its calls."""

    def __init__(self, folder: Path) -> None:
        self.project_dir = folder
        self.manifest_path = folder / "target" / "manifest.json"
        self.model = folder / "models" / "turns.sql"
        self.parsed = 0
        for name in ("models", "seeds", "macros", "tests"):
            (folder / name).mkdir(parents=True)
        for file in (self.model, folder / "dbt_project.yml", folder / "profiles.yml"):
            file.write_text("")
        self.age(100)

    def age(self, seconds: float) -> None:
        """Make everything that is there this much older than now."""
        for file in self.project_dir.rglob("*"):
            then = file.stat().st_mtime - seconds
            os.utime(file, (then, then))

    def parse(self, target: Path) -> Path:
        self.parsed += 1
        (target / "manifest.json").write_text(str(self.parsed))
        return target / "manifest.json"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    project = Project(tmp_path / "dbt")
    monkeypatch.setattr(warehouse_project, "dbt_project", project)
    monkeypatch.setattr(warehouse_project, "_parse", project.parse)
    return project


def test_a_project_is_parsed_once_and_again_when_a_file_changes(project: Project) -> None:
    assert [fresh_manifest().read_text() for _ in range(2)] == ["1", "1"]
    project.age(10)
    project.model.write_text("select 1")
    assert fresh_manifest().read_text() == "2"


def test_a_project_is_parsed_again_when_a_file_is_gone(project: Project) -> None:
    fresh_manifest()
    project.age(10)
    project.model.unlink()
    assert fresh_manifest().read_text() == "2"


def test_a_parse_that_fails_leaves_the_manifest_as_it_was_and_is_tried_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh_manifest()
    project.age(10)
    project.model.write_text("select 1")

    def half(target: Path) -> Path:
        (target / "manifest.json").write_text("ha")
        raise RuntimeError

    with monkeypatch.context() as failing:
        failing.setattr(warehouse_project, "_parse", half)
        with pytest.raises(RuntimeError):
            fresh_manifest()
    assert project.manifest_path.read_text() == "1"
    assert [file.name for file in project.manifest_path.parent.iterdir()] == ["manifest.json"]
    assert fresh_manifest().read_text() == "2"


def results(target: Path, *nodes: tuple[str, str, str | None]) -> None:
    keys = ("unique_id", "status", "message")
    content = {"results": [dict(zip(keys, node, strict=True)) for node in nodes]}
    (target / "run_results.json").write_text(json.dumps(content))


def test_what_failed_is_named_with_its_reason_and_nothing_else(tmp_path: Path) -> None:
    results(
        tmp_path,
        ("model.reprise.int_turns", "error", "Runtime Error in model int_turns\n  Invalid Input Error: planted"),
        ("test.reprise.unique_turns.1a2b", "fail", "Got 2 results, configured to fail if != 0"),
        ("model.reprise.turns", "skipped", None),
        ("model.reprise.sessions", "success", "OK"),
    )
    told = what_failed(tmp_path, DagsterDbtCliRuntimeError(description="the command line"))
    assert told == (
        "int_turns: Runtime Error in model int_turns Invalid Input Error: planted; "
        f"unique_turns: Got 2 results, configured to fail if != 0. All that dbt says is in {tmp_path / 'dbt.log'}."
    )


def test_a_command_that_ran_nothing_is_told_by_what_dbt_printed_not_by_earlier_results(tmp_path: Path) -> None:
    results(tmp_path, ("model.reprise.earlier", "error", "long mended"))
    forget_results(tmp_path)
    error = DagsterDbtCliRuntimeError(
        description="The dbt CLI process failed.\n\nErrors parsed from dbt logs:\n\nCompilation Error\n  no such macro"
    )
    assert what_failed(tmp_path, error).startswith("Compilation Error no such macro. ")
