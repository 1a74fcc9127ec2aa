"""A run that is killed at any moment leaves a whole warehouse or none, and the next one ends as if nothing happened."""

import os
import random
import signal
import time
from pathlib import Path

from tests.end_to_end.conftest import Workplace, small_archive, workplace

# The second three hold the writer's slot, which a dead run must not keep.
STEPS = [
    "archive",
    "vectors__use_multilingual_v3",
    "max_prior_pairs",
    "dbt_marts",
    "dbt_reports",
    "published_warehouse",
]


def digest(place: Workplace) -> str:
    return place.query("select content_digest from meta.build")[0][0]


def test_a_run_killed_in_every_step_and_started_again_gives_the_undisturbed_build(
    small: Workplace, tmp_path: Path
) -> None:
    place = workplace(tmp_path)
    small_archive(place.archive)
    moments = random.Random(7)
    for step in STEPS:
        process = place.start("run")
        assert any(line.startswith(f"▸ {step}") for line in process.stdout), f"the run ended before {step}"
        time.sleep(moments.uniform(0, 2 if step.startswith("dbt") else 0.3))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if place.warehouse.exists():
            assert digest(place) == digest(small)
    place.must_run("run")
    assert digest(place) == digest(small)
    assert not list(place.lake.rglob(".draft*"))


def test_a_run_that_is_told_to_stop_while_dbt_works_stops_and_publishes_nothing(tmp_path: Path) -> None:
    place = workplace(tmp_path)
    small_archive(place.archive, motions=["S01"], conditions=["baseline"])
    process = place.start("run")
    assert any(line.startswith("▸ dbt_marts") for line in process.stdout)
    time.sleep(1)
    process.terminate()
    told, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert told.strip().endswith("Stopped.")
    assert "Traceback" not in told
    assert not place.warehouse.exists()
