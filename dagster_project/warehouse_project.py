"""The dbt project and its manifest, which is parsed again whenever a file of the project is newer."""

import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from dagster_dbt import DbtCliResource, DbtProject
from dagster_dbt.errors import DagsterDbtCliRuntimeError
from packaging.version import Version

from dagster_project.lake import LAKE_VARIABLE, PROJECT_ROOT, Lake
from dagster_project.publish import PUBLISHED_SCHEMAS, Relation

dbt_project = DbtProject(project_dir=PROJECT_ROOT / "dbt", profiles_dir=PROJECT_ROOT / "dbt")


class Dbt(DbtCliResource):
    """The dbt command, started at once.

    Dagster would first ask the command for its version, and make a handle on its adapter for metadata that this project
    does not fetch. Both take seconds, and a signal that arrives during the latter is swallowed.
    """

    @property
    def _cli_version(self) -> Version:
        return Version(metadata.version("dbt-core"))

    def _initialize_dbt_core_adapter(self, args: Sequence[str]) -> None:
        return None


RESULTS = "run_results.json"
# How dagster-dbt introduces what dbt printed.
_DBT_ERRORS = "Errors parsed from dbt logs:"

# The dbt beside this interpreter, so that the virtual environment need not be activated.
dbt_resource = Dbt(project_dir=dbt_project, dbt_executable=str(Path(sys.executable).with_name("dbt")))


def point_dbt_at(lake: Lake) -> None:
    """Hand the lake's root to dbt, whose profile and sources read it from the environment."""
    os.environ[LAKE_VARIABLE] = str(lake.root)


def fresh_manifest() -> Path:
    """The path of a manifest that is not older than the project it describes. It is replaced whole or not at all."""
    manifest = dbt_project.manifest_path
    written = manifest.stat().st_mtime if manifest.exists() else 0.0
    if any(file.stat().st_mtime > written for file in _project_files()):
        manifest.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".parse-", dir=manifest.parent) as target:
            fresh = _parse(Path(target))
            fresh.replace(manifest)
    return manifest


def _parse(target: Path) -> Path:
    """Parse the project into `target`; the path of its manifest, which is as old as the beginning of the parse."""
    # Parsing needs some lake. The one in force is not resolved yet, so the variable must not outlive the parse.
    named = os.environ.get(LAKE_VARIABLE)
    os.environ[LAKE_VARIABLE] = named or str(PROJECT_ROOT / "lake")
    started = time.time()
    try:
        # A partial parse loses what yml files say about singular tests whose parents changed.
        dbt_resource.cli(["parse", "--quiet", "--no-partial-parse"], target_path=target).wait()
    finally:
        if named is None:
            del os.environ[LAKE_VARIABLE]
    # A file that changed meanwhile is newer.
    os.utime(target / "manifest.json", (started, started))
    return target / "manifest.json"


def forget_results(target: Path) -> None:
    """Remove the results of an earlier command from dbt's target folder, lest they be taken for those of the next."""
    (target / RESULTS).unlink(missing_ok=True)


def what_failed(target: Path, error: DagsterDbtCliRuntimeError) -> str:
    """Which models and tests failed in the command that left its results in `target`, and where dbt's log is.

    A command that failed before it ran anything leaves none; `error` then holds what dbt printed.
    """
    results = target / RESULTS
    if results.exists():
        told = [
            f"{node['unique_id'].split('.')[2]}: {' '.join((node['message'] or node['status']).split())}"
            for node in json.loads(results.read_text(encoding="utf-8"))["results"]
            if node["status"] in ("error", "fail")
        ]
    else:
        told = [" ".join((str(error).partition(_DBT_ERRORS)[2] or str(error)).split())]
    return f"{'; '.join(told)}. All that dbt says is in {target / 'dbt.log'}."


def published_relations(manifest: Path) -> list[Relation]:
    """The tables and views of the project that people query, by its manifest."""
    nodes = json.loads(manifest.read_text(encoding="utf-8"))["nodes"].values()
    return [
        Relation(node["schema"], node["alias"])
        for node in nodes
        if node["resource_type"] in ("model", "seed") and node["schema"] in PUBLISHED_SCHEMAS
    ]


def _project_files() -> list[Path]:
    root = Path(dbt_project.project_dir)
    folders = ("models", "seeds", "macros", "tests")
    # A folder is newer than a file that was removed from it.
    return [root / "dbt_project.yml", root / "profiles.yml"] + [
        file for folder in folders for file in (root / folder, *(root / folder).rglob("*"))
    ]
