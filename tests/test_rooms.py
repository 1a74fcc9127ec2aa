"""The house's rules: which room may import what, and that a room works without those behind it."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = {"ingest", "embeddings", "dagster_project", "dashboards"}
# What each room may import of this project. The dashboards ask only where the warehouse lies, and their labelling page,
# which never sees it, keeps labels; one asset writes their report.
ALLOWED = {
    "ingest": {"ingest"},
    "embeddings": {"embeddings"},
    "dagster_project": {"ingest", "embeddings", "dagster_project", "dashboards.report"},
    "dashboards": {"dashboards", "dagster_project.lake", "ingest.label"},
}
FORBIDDEN = {
    "ingest": {"dagster", "duckdb", "dbt"},
    "embeddings": {"dagster", "duckdb", "dbt"},
    "dashboards": {"dagster"},
}
# The estimators are pure functions over arrays and tables.
NOT_PURE = {"dagster", "duckdb", "dbt", "ingest", "embeddings", "dashboards"}


def imports(file: Path) -> set[str]:
    """The dotted names of all modules that a file imports, wherever in the file."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def files(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_a_room_imports_no_other_rooms_insides(room: str) -> None:
    strangers = {
        f"{file.relative_to(ROOT)}: {name}"
        for file in files(room)
        for name in imports(file)
        if name.split(".")[0] in ROOMS
        and not any(
            name == door or name.startswith(f"{door}.") or door.startswith(f"{name}.") for door in ALLOWED[room]
        )
    }
    assert strangers == set()


@pytest.mark.parametrize("room", sorted(FORBIDDEN))
def test_a_room_imports_no_tool_of_a_later_room(room: str) -> None:
    tools = {name.split(".")[0] for file in files(room) for name in imports(file)}
    assert tools & FORBIDDEN[room] == set()


def test_the_estimators_know_arrays_only() -> None:
    tools = {name.split(".")[0] for file in files("dagster_project/estimators") for name in imports(file)}
    assert tools & NOT_PURE == set()


def test_the_path_resolver_imports_the_standard_library_alone() -> None:
    names = {name.split(".")[0] for name in imports(ROOT / "dagster_project" / "lake.py")}
    assert names <= set(sys.stdlib_module_names)


def test_nothing_refers_to_a_place_outside_the_project() -> None:
    outside = ("../" + "shared", "/wo" + "rk/", "/ro" + "ot/", "/opt/py" + "pi")
    texts = [
        file
        for pattern in ("*.py", "*.sql", "*.yml", "*.yaml", "*.md", "*.toml", "Makefile", "run", "*.lock")
        for file in ROOT.rglob(pattern)
        if file.is_file()
        and not {".venv", "lake", "target", ".dagster_home", ".git"} & set(file.relative_to(ROOT).parts)
    ]
    assert len(texts) > 100
    found = [
        str(file) for file in texts for place in outside if place in file.read_text(encoding="utf-8", errors="replace")
    ]
    assert found == []


@pytest.mark.parametrize("name", sorted(file.stem for file in (ROOT / "benchmarks").glob("[a-z]*.py")))
def test_every_benchmark_is_run_by_make_and_has_one_chapter(name: str) -> None:
    benchmarks = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    headings = [line for line in benchmarks.splitlines() if line.startswith("## ")]
    assert f"-m benchmarks.{name}\n" in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert len(headings) == len(set(headings)) == len(list((ROOT / "benchmarks").glob("[a-z]*.py")))
