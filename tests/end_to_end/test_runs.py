"""A run repeated, killed, or watched while it publishes: the warehouse is always one whole build."""

import json
import multiprocessing
import os
import random
import signal
import subprocess
import time
from collections import defaultdict
from pathlib import Path

import duckdb
import pytest

from tests.end_to_end.conftest import Workplace, small_archive, workplace


def digest(place: Workplace) -> str:
    return place.query("select content_digest from meta.build")[0][0]


def files(place: Workplace, table: str) -> dict[str, int]:
    return {str(file): file.stat().st_mtime_ns for file in sorted((place.lake / table).rglob("*.parquet"))}


def test_a_second_run_encodes_nothing_and_changes_nothing(small: Workplace) -> None:
    before = (small.warehouse.resolve(), small.warehouse.read_bytes(), files(small, "vectors"), files(small, "archive"))
    output = small.must_run("run")
    assert "0 texts encoded" in output
    after = (small.warehouse.resolve(), small.warehouse.read_bytes(), files(small, "vectors"), files(small, "archive"))
    assert after == before


def test_added_debates_encode_only_their_own_texts(tmp_path: Path) -> None:
    place = workplace(tmp_path)
    small_archive(place.archive, motions=["S01"], conditions=["baseline"])
    place.must_run("run")
    n_before = place.query("select count(distinct trim(claim)) from marts.arguments")[0][0]
    vectors_before = files(place, "vectors")
    small_archive(place.archive, motions=["S01", "S02"], conditions=["baseline"])
    output = place.must_run("run")
    n_after = place.query("select count(distinct trim(claim)) from marts.arguments")[0][0]
    assert f"{n_after - n_before:,} texts encoded, {n_before:,} known" in output
    assert vectors_before.items() <= files(place, "vectors").items()


def test_an_archive_in_two_parts_gives_the_build_of_one(small: Workplace, tmp_path: Path) -> None:
    place = workplace(tmp_path)
    small_archive(place.archive / "first", conditions=["baseline"])
    small_archive(place.archive / "second", conditions=["diversity"])
    place.must_run("run")
    numbers = "from marts.gap_estimates order by all"
    assert place.query(numbers) == small.query(numbers)


def test_a_run_killed_at_any_moment_and_started_again_gives_the_undisturbed_build(
    small: Workplace, tmp_path: Path
) -> None:
    place = workplace(tmp_path)
    small_archive(place.archive)
    moments = random.Random(7)
    killed = 0
    for _ in range(6):
        process = place.start("run")
        try:
            process.communicate(timeout=moments.uniform(2, 20))
        except subprocess.TimeoutExpired:
            killed += 1
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        if place.warehouse.exists():
            assert digest(place) == digest(small)
    assert killed >= 3
    place.must_run("run")
    assert digest(place) == digest(small)
    assert not list(place.lake.rglob(".draft*"))


@pytest.mark.parametrize("step", ["dbt_marts", "dbt_reports", "published_warehouse"])
def test_a_run_killed_in_a_step_that_holds_the_writers_slot_does_not_block_the_next(
    small: Workplace, tmp_path: Path, step: str
) -> None:
    place = workplace(tmp_path)
    small_archive(place.archive)
    process = place.start("run")
    for line in process.stdout:
        if line.startswith(f"▸ {step}"):
            break
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    place.must_run("run")
    assert digest(place) == digest(small)


SEEN = """
    select
        (select build_id from meta.build),
        (select count(*) from marts.sessions),
        (select count(*) from marts.turns),
        (select count(*) from marts.arguments),
        (select count(*) from marts.max_prior_pairs),
        (select sum(estimate) from marts.gap_estimates),
        (select count(*) from reports.table_03)
"""


def read_in_a_loop(warehouse: Path, until: float, keep_open: bool, results: "multiprocessing.Queue[str]") -> None:
    """What each look at the warehouse shows; an error is a result too."""
    seen = []
    try:
        while time.time() < until:
            with duckdb.connect(warehouse, read_only=True) as connection:
                seen.append(connection.sql(SEEN).fetchall()[0])
                if keep_open:
                    time.sleep(0.5)
                    assert connection.sql(SEEN).fetchall()[0] == seen[-1]
            time.sleep(0.25)
    except Exception as error:
        results.put(json.dumps({"error": repr(error)}))
        return
    results.put(json.dumps({"seen": [list(map(str, row)) for row in seen]}))


@pytest.mark.parametrize("n_readers", [20])
def test_readers_never_meet_a_lock_or_half_a_build_while_the_study_is_built(tmp_path: Path, n_readers: int) -> None:
    place = workplace(tmp_path)
    small_archive(place.archive, motions=["S01"], conditions=["baseline"])
    place.must_run("run")

    context = multiprocessing.get_context("fork")
    results = context.Queue()
    until = time.time() + 100
    readers = [
        context.Process(target=read_in_a_loop, args=(place.warehouse, until, number == 0, results))
        for number in range(n_readers)
    ]
    for reader in readers:
        reader.start()
    builds = [digest(place)]
    for motions in (["S01", "S02"], ["S01", "S02", "S03"], ["S02"]):
        small_archive(place.archive, motions=motions, conditions=["baseline"])
        place.must_run("run")
        builds.append(digest(place))
    assert time.time() < until, "the readers stopped before the last build; give them longer"
    outcomes = [json.loads(results.get(timeout=120)) for _ in readers]
    for reader in readers:
        reader.join()

    assert [outcome["error"] for outcome in outcomes if "error" in outcome] == []
    rows_of_build = defaultdict(set)
    for outcome in outcomes:
        for build, *rows in outcome["seen"]:
            rows_of_build[build].add(tuple(rows))
            assert int(rows[1]) == 8 * int(rows[0])
    assert all(len(rows) == 1 for rows in rows_of_build.values())
    assert set(rows_of_build) == {build[:16] for build in builds}
