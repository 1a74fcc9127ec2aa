"""What the archive's checks find, whether it stops the study, and that a remedy is named only where it is one."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from dagster_project.checks import archive_checks, refusals
from dagster_project.study import Study
from ingest.archive import files_not_read, find_parts
from tests.ingest.archives import ArchiveBuilder, load_into, turn

Checked = Callable[..., dict[str, dg.AssetCheckResult]]


@pytest.fixture
def archive() -> ArchiveBuilder:
    """One complete session."""
    archive = ArchiveBuilder()
    archive.add("motions", {"motion_id": "M1", "texts": {"en": "This house would plant more trees."}})
    archive.add_session("S1")
    return archive


@pytest.fixture
def checked(tmp_path: Path) -> Checked:
    """The checks' results by name, of an archive under a study's settings, after `damage` to the archive's folder."""

    def check(archive: ArchiveBuilder, damage: Callable[[Path], Any] = lambda _: None, **settings: Any) -> Any:
        folder = archive.write(tmp_path / "archive")
        damage(folder)
        loaded = load_into(folder, tmp_path / "work")
        study = Study(name="checked", archive=folder, encoders=("labse",), **settings)
        results = archive_checks(loaded.report, loaded.directory, study, files_not_read(folder, find_parts(folder)))
        return {result.check_name: result for result in results}

    return check


def found(results: dict[str, dg.AssetCheckResult]) -> set[str]:
    return {name for name, result in results.items() if not result.passed}


def stopping(results: dict[str, dg.AssetCheckResult]) -> set[str]:
    return {refusal.split(":")[0] for refusal in refusals(results.values())}


def test_a_whole_archive_passes_every_check(archive: ArchiveBuilder, checked: Checked) -> None:
    assert found(checked(archive)) == set()


@pytest.mark.parametrize("name", ["annotations.csv", "judgments.jsonl.gz", "motions.jsonl"])
def test_a_damaged_file_that_the_measure_does_not_need_is_a_warning(
    archive: ArchiveBuilder, checked: Checked, name: str
) -> None:
    results = checked(archive, lambda folder: (folder / name).write_bytes(b"\x1f\x8b"))
    assert found(results) == {"files_readable"}
    assert stopping(results) == set()
    assert name in results["files_readable"].description


def test_a_damaged_core_file_stops_the_study_and_is_named_first(archive: ArchiveBuilder, checked: Checked) -> None:
    def damage(folder: Path) -> None:
        (folder / "annotations.csv").write_text("no;columns\n")
        (folder / "turns.jsonl").write_bytes(gzip.compress((folder / "turns.jsonl").read_bytes()))

    results = checked(archive, damage, rejects="accept")
    assert "files_readable" in stopping(results)
    assert results["files_readable"].description.startswith("turns.jsonl: ")
    assert "name it turns.jsonl.gz" in results["files_readable"].description


def test_a_file_by_another_name_is_a_warning_that_names_it(archive: ArchiveBuilder, checked: Checked) -> None:
    results = checked(archive, lambda folder: (folder / "Turns.JSONL").write_text("{}\n"))
    assert (found(results), stopping(results)) == ({"files_known"}, set())
    assert results["files_known"].description.startswith("Turns.JSONL is not read.")


def test_terms_that_the_template_does_not_know_are_a_warning_that_names_them(
    archive: ArchiveBuilder, checked: Checked
) -> None:
    archive.lines["turns"][2] = json.dumps(turn("S1", 3, role="judge", phase="Verdict")).encode()
    archive.lines["turns"][3] = json.dumps(turn("S1", 4, role="judge")).encode()
    results = checked(archive)
    assert (found(results), stopping(results)) == ({"turns_follow_template"}, set())
    assert "phase 'Verdict'" in results["turns_follow_template"].description
    assert "1 more like it" in results["turns_follow_template"].description


def test_a_term_in_another_place_than_the_templates_is_a_warning_that_names_the_turn(
    archive: ArchiveBuilder, checked: Checked
) -> None:
    archive.lines["turns"][0] = json.dumps(turn("S1", 1, phase="closing")).encode()
    results = checked(archive)
    assert found(results) == {"turns_follow_template"}
    assert "S1/1" in results["turns_follow_template"].description


@pytest.mark.parametrize(
    ("settings", "lost"),
    [({"reference_language": "zh"}, "no language gaps"), ({"baseline_condition": "plain"}, "no condition effects")],
)
def test_an_absent_reference_is_a_warning_that_says_what_is_lost(
    archive: ArchiveBuilder, checked: Checked, settings: dict[str, str], lost: str
) -> None:
    results = checked(archive, **settings)
    assert (found(results), stopping(results)) == ({"reference_present"}, set())
    assert lost in results["reference_present"].description


@pytest.mark.parametrize("decision", ["refuse", "exclude", "include"])
def test_a_setting_is_recommended_only_while_it_is_not_set(
    archive: ArchiveBuilder, checked: Checked, decision: str
) -> None:
    del archive.lines["turns"][7]
    del archive.lines["extractions"][7]
    results = checked(archive, incomplete_sessions=decision)
    assert found(results) == {"sessions_complete"}
    assert stopping(results) == ({"sessions_complete"} if decision == "refuse" else set())
    told = results["sessions_complete"].description
    assert ("`incomplete_sessions: exclude`" in told) == (decision == "refuse")
    assert "  " not in told


@pytest.mark.parametrize("decision", ["refuse", "accept"])
def test_rejects_recommend_accepting_them_only_to_who_refuses_them(
    archive: ArchiveBuilder, checked: Checked, decision: str
) -> None:
    archive.lines["extractions"][7] = b"{"
    results = checked(archive, rejects=decision)
    assert stopping(results) == ({"no_rejects"} if decision == "refuse" else set())
    assert ("`rejects: accept`" in results["no_rejects"].description) == (decision == "refuse")


def test_rejects_of_judgments_stop_nothing(archive: ArchiveBuilder, checked: Checked) -> None:
    archive.add("judgments", b"{")
    results = checked(archive)
    assert (found(results), stopping(results)) == ({"no_rejects"}, set())
    assert "`rejects: accept`" not in results["no_rejects"].description
