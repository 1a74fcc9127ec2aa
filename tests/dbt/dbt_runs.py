"""Running dbt on the known lake, in the two steps that surround the estimates."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from dagster_project.assets.estimates import SCORED_TURNS, SESSION_VALUES, TAIL_VALUES
from dagster_project.estimators.agreement import agreement_table
from dagster_project.estimators.alignment import alignment_table
from dagster_project.estimators.calibration import calibration_table, extraction_audit_table
from dagster_project.estimators.contrasts import estimate_contrasts
from dagster_project.estimators.encoder_agreement import encoder_agreement_table
from dagster_project.estimators.groups import group_gaps_table
from dagster_project.estimators.outcomes import outcome_associations_table
from dagster_project.estimators.regression import regression_table
from dagster_project.estimators.repeats import repeat_noise_table
from dagster_project.estimators.resampled import Settings
from dagster_project.estimators.subsets import estimate_subsets
from dagster_project.estimators.tails import tail_rates_table
from dagster_project.estimators.volume import output_volume_table
from tests.dbt.known_lake import KnownLake, write_lake

PROJECT = Path(__file__).resolve().parents[2] / "dbt"
BEFORE_ESTIMATES = ("--exclude", "source:estimates+")
AFTER_ESTIMATES = ("--select", "source:estimates+")


@dataclass(frozen=True)
class Dbt:
    """The dbt command on one lake, with its target folder outside the tree."""

    lake: Path
    target: Path

    def __call__(self, *arguments: str) -> str:
        dbt = Path(sys.executable).with_name("dbt")
        command = [dbt, *arguments, "--project-dir", PROJECT, "--profiles-dir", PROJECT]
        environment = {
            "REPRISE_LAKE": str(self.lake),
            "DBT_TARGET_PATH": str(self.target),
            "DBT_LOG_PATH": str(self.target / "logs"),
            "DBT_USE_COLORS": "0",
        }
        done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"dbt ended with {done.returncode}: {done.stdout[-8000:]}{done.stderr[-2000:]}"
        return done.stdout

    @property
    def manifest(self) -> dict[str, Any]:
        return json.loads((self.target / "manifest.json").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Built:
    """A lake that both dbt steps have run on."""

    lake: KnownLake
    dbt: Dbt
    manifest: dict[str, Any]

    @property
    def warehouse(self) -> Path:
        return self.lake.root / "build" / "warehouse.duckdb"

    @property
    def scratch(self) -> Path:
        return self.lake.root / "build" / "scratch.duckdb"

    def models(self, *layers: str) -> list[dict[str, Any]]:
        return [
            node
            for node in self.manifest["nodes"].values()
            if node["resource_type"] == "model" and node["fqn"][1] in layers
        ]


def build(home: Path) -> Built:
    """The known lake below `home`, built; its path holds what a careless SQL string would stumble over."""
    lake = write_lake(home / "somebody's {lake}")
    dbt = Dbt(lake.root, home / "target")
    dbt("build", *BEFORE_ESTIMATES)
    with duckdb.connect(lake.root / "build" / "warehouse.duckdb", read_only=True) as warehouse:
        estimates = estimate(warehouse)
    for name, table in estimates.items():
        directory = lake.root / name / "current"
        directory.mkdir(parents=True)
        pq.write_table(table, directory / f"{name}.parquet")
    dbt("build", *AFTER_ESTIMATES)
    return Built(lake, dbt, dbt.manifest)


def estimate(warehouse: duckdb.DuckDBPyConnection) -> dict[str, pa.Table]:
    """Every table of estimates from the marts, as the assets compute them."""

    def mart(name: str) -> pa.Table:
        return warehouse.sql(f"from marts.{name}").to_arrow_table()

    resampling = Settings(n_resamples=200, seed=1)
    return {
        "gap_estimates": estimate_contrasts(
            mart("motion_contrasts"), n_resamples=200, seed=1, confidence=0.95, min_clusters=20
        ),
        "regression_estimates": regression_table(mart("regression_turns"), "en", resampling),
        "tail_rates": tail_rates_table(warehouse.sql(TAIL_VALUES).to_arrow_table(), "en", resampling),
        "encoder_agreement": encoder_agreement_table(warehouse.sql(SCORED_TURNS).to_arrow_table(), resampling),
        "repeat_noise": repeat_noise_table(warehouse.sql(SESSION_VALUES).to_arrow_table(), resampling),
        "subset_gap_estimates": estimate_subsets(
            mart("subset_contrasts"), n_resamples=200, seed=1, confidence=0.95, min_clusters=20
        ),
        "decoding_estimates": estimate_contrasts(
            mart("decoding_contrasts"), n_resamples=200, seed=1, confidence=0.95, min_clusters=20
        ),
        "translation_estimates": estimate_contrasts(
            mart("translation_contrasts"), n_resamples=200, seed=1, confidence=0.95, min_clusters=20
        ),
        "output_volume": output_volume_table(mart("volume_contrasts"), resampling),
        "group_gaps": group_gaps_table(mart("group_similarity"), {"side": None}, "motion", resampling),
        "agreement": agreement_table(mart("ratings"), resampling),
        "extraction_audit_rates": extraction_audit_table(mart("extraction_audits"), "en", resampling),
        "instrument_alignment": alignment_table(mart("instrument_values"), resampling),
        "calibration": calibration_table(mart("adjudicated_labels"), mart("calibration_pairs"), "en", resampling),
        "outcome_associations": outcome_associations_table(
            mart("session_outcomes"), mart("outcome_contrasts"), "baseline", resampling
        ),
    }
