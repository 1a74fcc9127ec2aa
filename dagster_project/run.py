"""The whole study from the command line, in this process, recorded where the UI looks."""

import contextlib
import sys

import dagster as dg

from dagster_project.definitions import definitions, lake
from dagster_project.settings import settings

_TERMINAL = {"loggers": {"terminal": {}}}


def run_study() -> int:
    """Build and publish the study; 0 when its warehouse is published, 1 when something refused it."""
    lake.root.mkdir(parents=True, exist_ok=True)
    log = lake.root / "run.log"
    print(f"Study '{settings.name}', archive {settings.archive}, lake {lake.root}. Log: {log}", file=sys.stderr)
    # dbt's own output goes to the log: a person needs its findings, which arrive as checks, not its thousand lines.
    with dg.DagsterInstance.get() as instance, log.open("w") as output, contextlib.redirect_stdout(output):
        result = definitions.resolve_job_def("whole_study").execute_in_process(
            instance=instance, run_config=_TERMINAL, raise_on_error=False
        )
    if result.success:
        return 0
    for failure in result.filter_events(lambda event: event.is_step_failure):
        print(f"  ✗ {failure.step_key}: {_sentence(failure.step_failure_data)}", file=sys.stderr)
    print(
        "Nothing was published"
        + ("; the warehouse of the last good run stays in place." if lake.warehouse.exists() else "."),
        file=sys.stderr,
    )
    return 1


def _sentence(failure: "dg.StepFailureData") -> str:  # type: ignore[name-defined]
    """What went wrong, without its stack: the description of a Failure, else the innermost message."""
    if failure.user_failure_data and failure.user_failure_data.description:
        return failure.user_failure_data.description
    error = failure.error
    while error.cause:
        error = error.cause
    return error.message.strip()
