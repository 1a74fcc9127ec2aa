"""The dbt project and its manifest, which is parsed again whenever a file of the project is newer."""

import json
import os
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from dagster_dbt import DbtCliResource, DbtProject
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


# The dbt beside this interpreter, so that the virtual environment need not be activated.
dbt_resource = Dbt(project_dir=dbt_project, dbt_executable=str(Path(sys.executable).with_name("dbt")))


def point_dbt_at(lake: Lake) -> None:
    """Hand the lake's root to dbt, whose profile and sources read it from the environment."""
    os.environ[LAKE_VARIABLE] = str(lake.root)


def fresh_manifest() -> Path:
    """The path of a manifest that is not older than the project it describes."""
    manifest = dbt_project.manifest_path
    written = manifest.stat().st_mtime if manifest.exists() else 0.0
    if any(file.stat().st_mtime > written for file in _project_files()):
        # Parsing needs some lake. The one in force is not resolved yet, so the variable must not outlive the parse.
        named = os.environ.get(LAKE_VARIABLE)
        os.environ[LAKE_VARIABLE] = named or str(PROJECT_ROOT / "lake")
        # A partial parse loses what yml files say about singular tests whose parents changed.
        dbt_resource.cli(["parse", "--quiet", "--no-partial-parse"], target_path=dbt_project.target_path).wait()
        if named is None:
            del os.environ[LAKE_VARIABLE]
    return manifest


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
    return [root / "dbt_project.yml", root / "profiles.yml"] + [
        file for folder in folders for file in (root / folder).rglob("*")
    ]
