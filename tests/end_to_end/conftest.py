"""The product as a person runs it: the command line in a process of its own, on an archive and a lake of its own."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest
import yaml

from dagster_project.study import STUDIES

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample"
REPRISE = Path(sys.executable).with_name("reprise")

SMALL_STUDY = """
name: small
archive: archive
encoders: [use-multilingual-v3]
fields: [claim, claim_warrant, claim_warrant_evidence]
estimator: {n_resamples: 500}
"""


@dataclass(frozen=True)
class Workplace:
    """A folder with a study file, its archive and its lake."""

    folder: Path
    study: str

    @property
    def archive(self) -> Path:
        return self.folder / "archive"

    @property
    def lake(self) -> Path:
        return self.folder / "lake"

    @property
    def warehouse(self) -> Path:
        return self.lake / "warehouse.duckdb"

    def start(self, *command: str) -> subprocess.Popen[str]:
        """The command line as a process group of its own, so that a test can kill all of it."""
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("REPRISE_", "DAGSTER_"))
        }
        return subprocess.Popen(
            [str(REPRISE), "--study", self.study, "--lake", str(self.lake), *command],
            env=environment | {"DAGSTER_HOME": str(self.folder / "dagster_home")},
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *command: str) -> tuple[int, str]:
        """Exit status and everything the person sees."""
        process = self.start(*command)
        output, _ = process.communicate(timeout=600)
        return process.returncode, output

    def must_run(self, *command: str) -> str:
        status, output = self.run(*command)
        assert status == 0, output
        return output

    def query(self, sql: str) -> list[tuple]:
        with duckdb.connect(self.warehouse, read_only=True) as warehouse:
            return warehouse.sql(sql).fetchall()


def small_archive(
    destination: Path,
    motions: Collection[str] = ("S01", "S02"),
    languages: Collection[str] = ("en", "zh"),
    conditions: Collection[str] = ("baseline", "diversity"),
) -> None:
    """The sample's sessions of these motions, languages and conditions, as an archive of its own."""
    destination.mkdir(parents=True, exist_ok=True)
    chosen: set[str] = set()
    for table in ("motions", "sessions", "turns", "extractions"):
        kept = []
        for line in (SAMPLE / f"{table}.jsonl").read_text(encoding="utf-8").split("\n"):
            record = json.loads(line) if line else {}
            if (
                table == "sessions"
                and record
                and (
                    record["motion_id"] in motions
                    and record["language"] in languages
                    and record["condition"] in conditions
                )
            ):
                chosen.add(record["session_id"])
            if record.get("session_id") in chosen or (table == "motions" and record.get("motion_id") in motions):
                kept.append(line)
        (destination / f"{table}.jsonl").write_text("\n".join(kept) + "\n", encoding="utf-8")


def workplace(folder: Path) -> Workplace:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.yaml").write_text(SMALL_STUDY, encoding="utf-8")
    return Workplace(folder, str(folder / "study.yaml"))


def copy_of(place: Workplace, folder: Path) -> Workplace:
    """The workplace as it stands, somewhere else: a study that was built before, for tests that go on from there."""
    shutil.copytree(place.folder, folder, symlinks=True)
    return Workplace(folder, str(folder / "study.yaml"))


def built_once(factory: pytest.TempPathFactory, name: str, build: Callable[[Path], None]) -> Path:
    """A folder that the workers of one test run share: the first to ask builds it, the others wait."""
    worker = "PYTEST_XDIST_WORKER" in os.environ
    shared = factory.getbasetemp().parent if worker else factory.getbasetemp()
    folder, built = shared / name, shared / f"{name}.built"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not built.exists():
            shutil.rmtree(folder, ignore_errors=True)
            build(folder)
            built.touch()
    return folder


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """The sample study on its claims, built once. Tests only look at it.

    The longer fields, whose texts take the slow encoder minutes, are those of the small study.
    """
    folder = built_once(tmp_path_factory, "sample", build_sample)
    return Workplace(folder, str(folder / "sample.yaml"))


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """A study of eight sessions with one fast encoder, built once, for tests that only look at it or at a copy."""
    folder = built_once(tmp_path_factory, "small", build_small)
    return Workplace(folder, str(folder / "study.yaml"))


def build_sample(folder: Path) -> None:
    folder.mkdir()
    settings = yaml.safe_load((STUDIES / "sample.yaml").read_text(encoding="utf-8"))
    settings |= {"archive": str(SAMPLE), "fields": ["claim"]}
    study = folder / "sample.yaml"
    study.write_text(yaml.safe_dump(settings), encoding="utf-8")
    Workplace(folder, str(study)).must_run("run")


def build_small(folder: Path) -> None:
    place = workplace(folder)
    small_archive(place.archive)
    place.must_run("run")
