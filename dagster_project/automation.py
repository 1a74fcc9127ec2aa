"""What happens when an archive changes: the sensor notices, and the whole study follows."""

import hashlib

import dagster as dg

from dagster_project.study import Study
from ingest.archive import find_parts
from ingest.errors import IngestError


@dg.sensor(
    job_name="whole_study",
    minimum_interval_seconds=30,
    description="Looks at the study's archive folder and runs the study when a file is new, changed or gone. "
    "A run reads only the parts that changed and encodes only texts that are new.",
)
def archive_watch(
    context: dg.SensorEvaluationContext, settings: dg.ResourceParam[Study]
) -> dg.RunRequest | dg.SkipReason:
    """A run request when the archive's files differ from those of the last request, which the cursor holds."""
    try:
        parts = find_parts(settings.archive)
    except IngestError as error:
        return dg.SkipReason(str(error))
    files = [path for part in parts for path in sorted(part.files.values())]
    # Names, sizes and times are enough to notice a change without reading gigabytes every half minute.
    try:
        stats = [(str(path), stat.st_size, stat.st_mtime_ns) for path in files for stat in [path.stat()]]
    except FileNotFoundError as error:
        return dg.SkipReason(f"{error.filename} vanished while it was looked at; the next look decides.")
    state = hashlib.sha256(repr(stats).encode()).hexdigest()
    if state == context.cursor:
        return dg.SkipReason(f"Nothing new in {len(files)} files of {settings.archive}.")
    # Without a run key: an archive that returns to an earlier state is a change like any other.
    context.update_cursor(state)
    return dg.RunRequest()
