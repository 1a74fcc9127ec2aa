"""Twenty readers of the warehouse while the study is built three times: no lock, and never two builds in one look."""

import json
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

from tests.end_to_end.conftest import ROOT, Workplace, copy_of, small_archive

N_READERS = 20


def build_id(place: Workplace) -> str:
    return place.query("select build_id from meta.build")[0][0]


def test_readers_never_meet_a_lock_or_half_a_build_while_the_study_is_built(small: Workplace, tmp_path: Path) -> None:
    place = copy_of(small, tmp_path / "read")
    stop = tmp_path / "stop"
    outcomes = [tmp_path / f"reader-{number}.json" for number in range(N_READERS)]
    command = [sys.executable, "-m", "tests.end_to_end.readers", place.warehouse, stop]
    readers = [
        subprocess.Popen([*command, outcome, *(["keep"] if number == 0 else [])], cwd=ROOT)
        for number, outcome in enumerate(outcomes)
    ]
    builds = [build_id(place)]
    try:
        for motions in (["S01", "S02", "S03"], ["S01"], ["S02"]):
            small_archive(place.archive, motions=motions, conditions=["baseline"])
            place.must_run("run")
            builds.append(build_id(place))
        # Time for a look at the last build.
        time.sleep(10)
        stop.touch()
        for reader in readers:
            reader.wait(timeout=300)
    finally:
        for reader in readers:
            reader.kill()

    told = [json.loads(outcome.read_text()) for outcome in outcomes]
    assert [reader["error"] for reader in told if reader["error"]] == []
    rows_of_build = defaultdict(set)
    for reader in told:
        assert reader["seen"]
        for build, *rows in reader["seen"]:
            rows_of_build[build].add(tuple(rows))
            assert int(rows[1]) == 8 * int(rows[0])
    assert all(len(rows) == 1 for rows in rows_of_build.values())
    assert len(set(builds)) == 4
    assert set(rows_of_build) == set(builds)
