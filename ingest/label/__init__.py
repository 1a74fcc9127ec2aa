"""Labels of people on their way out and in: annotations.csv, and tasks and results of Label Studio."""

from ingest.label.annotations import write_annotations
from ingest.label.label_studio import (
    EXTRACTION_CONFIG,
    REPETITION_CONFIG,
    LabelError,
    annotations_of_results,
    extraction_tasks,
    repetition_tasks,
)

__all__ = [
    "EXTRACTION_CONFIG",
    "REPETITION_CONFIG",
    "LabelError",
    "annotations_of_results",
    "extraction_tasks",
    "repetition_tasks",
    "write_annotations",
]
