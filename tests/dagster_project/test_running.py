"""What surrounds the assets: parts as partitions, the sensor, progress, and what a person at a terminal sees."""

import logging
import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from dagster_project import progress
from dagster_project.automation import archive_watch
from dagster_project.console import terminal
from dagster_project.partitions import archive_parts, register_parts
from dagster_project.study import Study


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def test_parts_that_are_gone_are_forgotten_and_returned(instance: dg.DagsterInstance) -> None:
    assert register_parts(instance, ["zh", "en", "ru"]) == []
    assert register_parts(instance, ["fr", "en"]) == ["ru", "zh"]
    assert set(instance.get_dynamic_partitions(str(archive_parts.name))) == {"en", "fr"}
    assert register_parts(instance, ["fr", "en"]) == []


class Watch:
    """The sensor, looked at again and again as Dagster's daemon does it."""

    def __init__(self, archive: Path) -> None:
        self.settings = Study(name="watched", archive=archive, encoders=("labse",))
        self.cursor: str | None = None

    def look(self) -> dg.RunRequest | dg.SkipReason:
        context = dg.build_sensor_context(cursor=self.cursor, resources={"settings": self.settings})
        seen = archive_watch(context)
        self.cursor = context.cursor
        return seen


def test_the_sensor_asks_for_a_run_when_a_file_is_new_changed_or_gone_and_only_then(tmp_path: Path) -> None:
    watch = Watch(tmp_path / "archive")
    assert isinstance(watch.look(), dg.SkipReason)
    assert watch.cursor is None

    turns, judgments = tmp_path / "archive" / "turns.jsonl", tmp_path / "archive" / "judgments.jsonl"
    turns.parent.mkdir()
    changes = [
        lambda: turns.write_text("{}\n"),
        lambda: turns.write_text("{}\n{}\n"),
        lambda: judgments.write_text("{}\n"),
        lambda: judgments.unlink(),
    ]
    for change in changes:
        change()
        assert isinstance(watch.look(), dg.RunRequest)
        assert isinstance(watch.look(), dg.SkipReason)


def test_a_sensor_that_finds_no_archive_says_which(tmp_path: Path) -> None:
    assert str(tmp_path / "none") in Watch(tmp_path / "none").look().skip_message


def test_progress_tells_count_rate_and_time_left_every_few_seconds(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = iter([0.0, 1.0, 10.0, 11.0, 20.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    with caplog.at_level(logging.INFO):
        report = progress.reporter(logging.getLogger("steps"), "encoding", "texts")
        for done in (10, 1_000, 1_100, 2_000):
            report(done, 3_000)
    assert caplog.messages == [
        "encoding: 1,000 of 3,000 texts, 100 a second, 20 s left",
        "encoding: 2,000 of 3,000 texts, 100 a second, 10 s left",
    ]


@dg.asset
def source(context: dg.AssetExecutionContext) -> None:
    """One row."""
    context.log.info("reading")
    context.log.debug("hidden")


@dg.asset(
    deps=[source],
    check_specs=[
        dg.AssetCheckSpec("fine", asset="spoilt"),
        dg.AssetCheckSpec("odd", asset="spoilt"),
        dg.AssetCheckSpec("wrong", asset="spoilt", blocking=True),
        dg.AssetCheckSpec("silent", asset="spoilt"),
    ],
)
def spoilt() -> dg.MaterializeResult:
    """One row."""
    return dg.MaterializeResult(
        check_results=[
            dg.AssetCheckResult(check_name="fine", passed=True),
            dg.AssetCheckResult(
                check_name="odd", passed=False, severity=dg.AssetCheckSeverity.WARN, description="Two are alike."
            ),
            dg.AssetCheckResult(check_name="wrong", passed=False, description="One is missing."),
            dg.AssetCheckResult(check_name="silent", passed=False, severity=dg.AssetCheckSeverity.WARN),
        ]
    )


@dg.asset(deps=[spoilt])
def follower() -> None:
    """One row."""


def test_the_terminal_shows_steps_log_lines_and_failed_checks_and_no_stack(
    instance: dg.DagsterInstance, capsys: pytest.CaptureFixture[str]
) -> None:
    job = dg.Definitions(
        assets=[source, spoilt, follower],
        jobs=[dg.define_asset_job("all")],
        executor=dg.in_process_executor,
        loggers={"terminal": terminal},
    ).resolve_job_def("all")
    result = job.execute_in_process(instance=instance, run_config={"loggers": {"terminal": {}}}, raise_on_error=False)
    assert not result.success
    assert capsys.readouterr().err.splitlines() == [
        "▸ source",
        "    reading",
        "▸ spoilt",
        "  ! spoilt: odd: Two are alike.",
        "  ✗ spoilt: wrong: One is missing.",
        "  ! spoilt: silent",
    ]
