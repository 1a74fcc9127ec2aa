"""A run as a person at a terminal wants to see it: what is happening, what was found, and faults as sentences."""

import logging
import sys

import dagster as dg
from dagster import DagsterEventType

_SHOWN_STEPS = {
    DagsterEventType.STEP_START: "▸ {}",
    DagsterEventType.STEP_SKIPPED: "  {} not run: a step before it failed",
}


class _RunConsole(logging.Handler):
    """Prints progress and findings; stack traces stay in Dagster's own event log."""

    def emit(self, record: logging.LogRecord) -> None:
        meta = getattr(record, "dagster_meta", {})
        event = meta.get("dagster_event")
        if event is None:
            # Which steps did not run follows from the one that failed, which is told at the end.
            if str(meta.get("orig_message", "")).startswith("Dependencies for step"):
                return
            # What dbt's integration logs is about its own workings; what dbt finds arrives as checks.
            if record.levelno >= (logging.WARNING if str(meta.get("step_key")).startswith("dbt_") else logging.INFO):
                self._print(f"    {meta.get('orig_message', record.getMessage())}")
        elif event.event_type in _SHOWN_STEPS:
            self._print(_SHOWN_STEPS[event.event_type].format(event.step_key))
        elif event.event_type == DagsterEventType.ASSET_CHECK_EVALUATION:
            check = event.event_specific_data
            if not check.passed:
                mark = "✗" if check.severity == dg.AssetCheckSeverity.ERROR else "!"
                found = f": {check.description}" if check.description else ""
                self._print(f"  {mark} {check.asset_key.to_user_string()}: {check.check_name}{found}")

    @staticmethod
    def _print(line: str) -> None:
        print(line, file=sys.stderr, flush=True)


@dg.logger(description="Progress and findings for a person at a terminal.")
def terminal(_: dg.InitLoggerContext) -> logging.Logger:
    logger = logging.Logger("reprise.terminal", level=logging.DEBUG)
    logger.addHandler(_RunConsole())
    return logger
