"""The whole study from the command line, in this process, recorded where the UI looks."""

import contextlib
import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
from dagster._core.errors import DagsterAssetCheckFailedError
from dagster._core.execution.plan.objects import StepFailureData

from dagster_project.assets.archive import archive_part
from dagster_project.definitions import definitions, lake
from dagster_project.lake import Lake
from dagster_project.partitions import register_parts
from dagster_project.settings import settings
from ingest.archive import find_parts
from ingest.errors import IngestError

_TERMINAL = {"loggers": {"terminal": {}}}

INTERRUPTED = dg.DagsterExecutionInterruptedError.__name__
# The terminal shows what a check found when it is found.
TOLD_BY_CHECKS = DagsterAssetCheckFailedError.__name__

# Tags a run of the command line with the lake it works on.
COMMAND_OF = "reprise/command_of"
_UNFINISHED = [
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


def run_study() -> int:
    """Build and publish the study; 0 when its warehouse is published, 1 when something refused it."""
    with _command(), _log() as log, dg.DagsterInstance.get() as instance:
        print(f"Study '{settings.name}', archive {settings.archive}, lake {lake.root}. Log: {log}", file=sys.stderr)
        _bury_the_dead(instance)
        if _succeeds("whole_study", instance):
            return 0
    kept = "; the warehouse of the last good run stays in place." if lake.warehouse.exists() else "."
    print(f"Nothing was published{kept}", file=sys.stderr)
    return 1


def read_parts() -> int:
    """Read each part of the archive that this Dagster instance has not read; 0 when all could be read.

    The UI asks for a confirmation before it runs what follows a part that was never materialized.
    """
    try:
        names = [part.name for part in find_parts(settings.archive)]
    except IngestError as error:
        print(error, file=sys.stderr)
        return 1
    with _command(), _log(), dg.DagsterInstance.get() as instance:
        _bury_the_dead(instance)
        register_parts(instance, names)
        known = instance.get_materialized_partitions(archive_part.key)
        done = [_succeeds("read_archive", instance, partition_key=name) for name in names if name not in known]
    return 0 if all(done) else 1


@contextlib.contextmanager
def _command() -> Iterator[None]:
    """Hold the lake's slot for commands, telling a person who has to wait for it."""
    # An interrupt that arrives while a connection of Dagster's is closed would be told as a fault of it.
    logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)
    with lake.command(wait=False) as held:
        if held:
            yield
            return
    print(f"Another command is at work on {lake.root}; waiting for it.", file=sys.stderr)
    with lake.command():
        yield


def _bury_the_dead(instance: dg.DagsterInstance) -> None:
    """Record command-line runs that were killed as failed, and free the pool slots they hold.

    Dagster's daemon does this for runs of the UI; a command line has no daemon. A command holds its lake's slot as
    long as it lives, so a run whose lake has a free slot, or is this process's own, is dead.
    """
    for run in instance.get_runs(dg.RunsFilter(statuses=_UNFINISHED)):
        home = run.tags.get(COMMAND_OF)
        if home and (Path(home) == lake.root or _is_free(Lake(Path(home)))):
            instance.report_run_failed(run, message="The process of this run was killed.")
            instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)


def _is_free(other: Lake) -> bool:
    if not other.root.is_dir():
        return True
    with other.command(wait=False) as held:
        return held


@contextlib.contextmanager
def _log() -> Iterator[Path]:
    """Send what dbt prints to a file: a person needs its findings, which arrive as checks, not its thousand lines."""
    lake.root.mkdir(parents=True, exist_ok=True)
    log = lake.root / "run.log"
    with log.open("w") as output, contextlib.redirect_stdout(output):
        yield log


def _succeeds(job: str, instance: dg.DagsterInstance, partition_key: str | None = None) -> bool:
    result = definitions.resolve_job_def(job).execute_in_process(
        instance=instance,
        partition_key=partition_key,
        tags={COMMAND_OF: str(lake.root)},
        run_config=_TERMINAL,
        raise_on_error=False,
    )
    failures = [event.step_failure_data for event in result.filter_events(lambda event: event.is_step_failure)]
    if any(failure.error and failure.error.cls_name == INTERRUPTED for failure in failures):
        raise KeyboardInterrupt
    for failure in result.filter_events(lambda event: event.is_step_failure):
        if failure.step_failure_data.error.cls_name != TOLD_BY_CHECKS:
            print(f"  ✗ {failure.step_key}: {_sentence(failure.step_failure_data)}", file=sys.stderr)
    return result.success


def _sentence(failure: StepFailureData) -> str:
    """What went wrong, without its stack: the description of a Failure, else the innermost message."""
    if failure.user_failure_data and failure.user_failure_data.description:
        return failure.user_failure_data.description
    error = failure.error
    while error.cause:
        error = error.cause
    return error.message.strip()
