"""What Dagster sees: the graph, its descriptions, its jobs, and that it loads on a machine without the extras."""

import json
import subprocess
import sys

import dagster as dg
import pytest
from dagster._core.definitions.assets.graph.asset_graph import AssetGraph

ESTIMATES = {
    "gap_estimates",
    "group_gaps",
    "regression_estimates",
    "tail_rates",
    "encoder_agreement",
    "repeat_noise",
    "subset_gap_estimates",
    "output_volume",
    "decoding_estimates",
    "translation_estimates",
    "agreement",
    "extraction_audit_rates",
    "instrument_alignment",
    "calibration",
    "outcome_associations",
}


@pytest.fixture(scope="module")
def definitions() -> dg.Definitions:
    from dagster_project.definitions import definitions

    return definitions


@pytest.fixture(scope="module")
def graph(definitions: dg.Definitions) -> AssetGraph:
    return definitions.resolve_asset_graph()


def test_the_graph_reads_like_the_story(graph: AssetGraph) -> None:
    groups: dict[str, set[str]] = {}
    for key in graph.executable_asset_keys:
        groups.setdefault(graph.get(key).group_name, set()).add(key.to_user_string())
    assert set(groups) == {
        "study",
        "archive",
        "vectors",
        "instruments",
        "staging",
        "intermediate",
        "marts",
        "estimates",
        "reports",
        "publish",
    }
    assert groups["study"] == {"study"}
    assert groups["archive"] == {"archive_part", "archive", "argument_units", "ledger"}
    encoders = {"vectors/multilingual_e5_small", "vectors/use_multilingual_v3"}
    assert groups["vectors"] == encoders | {"max_prior_pairs", "null_maxima"}
    assert groups["instruments"] == {"judgments", "pair_scores"}
    assert groups["estimates"] == ESTIMATES
    assert groups["publish"] == {"published_warehouse", "study_report"}
    assert {"marts/turn_similarity", "marts/session_similarity", "marts/gap_estimates"} <= groups["marts"]
    assert {f"reports/table_{number}" for number in ("03", "04", "05", "06", "08", "09")} <= groups["reports"]


def test_every_dependency_is_an_asset_of_this_project(graph: AssetGraph) -> None:
    assert graph.external_asset_keys == set()


def test_the_story_runs_from_the_archive_to_the_published_warehouse(graph: AssetGraph) -> None:
    def ancestors(name: str) -> set[str]:
        keys = graph.get_ancestor_asset_keys(dg.AssetKey(name.split("/")))
        return {key.to_user_string() for key in keys}

    assert "archive_part" in ancestors("argument_units")
    assert "vectors/use_multilingual_v3" in ancestors("marts/max_prior_pairs")
    assert "marts/motion_contrasts" in ancestors("gap_estimates")
    assert "gap_estimates" in ancestors("reports/table_03")
    assert {"judgments", "marts/pair_judgments"} <= ancestors("instrument_alignment")
    assert {"pair_scores", "marts/calibration_pairs"} <= ancestors("reports/table_02")
    assert {"reports/table_03", "marts/turns", "gap_estimates", "study"} <= ancestors("published_warehouse")


def test_what_is_published_stands_on_marts_and_reports_alone(graph: AssetGraph) -> None:
    published = {key.path[0] for key in graph.get(dg.AssetKey("published_warehouse")).parent_keys}
    assert published == {"marts", "reports"}


def test_every_asset_says_what_it_is_and_its_grain(graph: AssetGraph) -> None:
    undescribed = [
        key.to_user_string()
        for key in graph.executable_asset_keys
        if key.to_user_string() not in ("study", "published_warehouse", "study_report")
        and "one row per" not in (graph.get(key).description or "").lower()
        and "one row." not in (graph.get(key).description or "").lower()
    ]
    assert undescribed == []


def test_the_whole_study_is_one_run_without_partitions(definitions: dg.Definitions, graph: AssetGraph) -> None:
    job = definitions.resolve_job_def("whole_study")
    assert job.partitions_def is None
    assert set(job.asset_layer.executable_asset_keys) == graph.executable_asset_keys - {dg.AssetKey("archive_part")}


def test_what_opens_the_working_database_shares_one_pool(definitions: dg.Definitions) -> None:
    writers = {node.name: set(node.definition.pools) for node in definitions.resolve_job_def("whole_study").nodes}
    in_pool = {name for name, pools in writers.items() if pools == {"warehouse_writer"}}
    assert in_pool == ESTIMATES | {"dbt_marts", "dbt_reports", "published_warehouse"}


def test_the_checks_that_stop_a_study_are_those_of_the_policy(graph: AssetGraph) -> None:
    archive = {key.name: graph.get(key).blocking for key in graph.get_check_keys_for_assets([dg.AssetKey("archive")])}
    assert archive == {
        "archive_present": True,
        "files_known": False,
        "files_readable": True,
        "no_rejects": True,
        "sessions_complete": True,
        "cells_distinct": False,
        "turns_follow_template": False,
        "reference_present": False,
        "motions_paired": False,
        "extractions_cover_turns": False,
    }
    units = graph.get_check_keys_for_assets([dg.AssetKey("argument_units")])
    assert {key.name: graph.get(key).blocking for key in units} == {"arguments_present": True, "answers_parsed": False}


WITHOUT_EXTRAS = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "sentence_transformers", "transformers", "litellm", "vllm"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
from dagster_project.definitions import definitions
definitions.resolve_asset_graph()
print("loaded")
"""


def test_everything_loads_without_the_optional_extras() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_EXTRAS], capture_output=True, text=True, check=False)
    assert done.stdout.strip().endswith("loaded"), done.stderr


MISSING_ENCODER = (
    WITHOUT_EXTRAS.split("from dagster_project.definitions")[0]
    + """
import json
from pathlib import Path
import pyarrow.parquet as pq
import dagster as dg
from dagster_project.assets import archive, vectors
from dagster_project.lake import resolve_lake
from dagster_project.settings import settings
from embeddings.encoders import load_specs
lake = resolve_lake()
instance = dg.DagsterInstance.ephemeral()
resources = {"lake": lake, "settings": settings}
assets = [archive.study, archive.archive, archive.argument_units, vectors.vectors_asset(load_specs()["labse"])]
result = dg.materialize(assets, resources=resources, instance=instance, raise_on_error=False)
print(json.dumps([event.step_failure_data.user_failure_data.description
                  for event in result.filter_events(lambda event: event.is_step_failure)]))
"""
)


def test_an_encoder_whose_library_is_missing_says_how_to_install_it() -> None:
    done = subprocess.run([sys.executable, "-c", MISSING_ENCODER], capture_output=True, text=True, check=False)
    (told,) = json.loads(done.stdout.strip().split("\n")[-1])
    assert "labse" in told
    assert ".venv/bin/pip install -c requirements.lock -e '.[encoders]'" in told


def test_the_manifest_is_not_older_than_the_dbt_project() -> None:
    from dagster_project.warehouse_project import dbt_project, fresh_manifest

    model = dbt_project.project_dir / "models" / "marts" / "turns.sql"
    manifest = json.loads(fresh_manifest().read_text(encoding="utf-8"))
    (node,) = [node for node in manifest["nodes"].values() if node["name"] == "turns"]
    assert node["raw_code"] == model.read_text(encoding="utf-8").strip()
