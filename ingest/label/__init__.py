"""Labels of people on their way out and in: annotations.csv, and tasks and results of Label Studio."""

from pathlib import Path

from ingest.label.annotations import write_annotations
from ingest.label.label_studio import (
    AUDIT_FLAGS,
    CANNOT_JUDGE,
    EXTRACTION_CONFIG,
    LABELS,
    QUALITIES,
    REPETITION_CONFIG,
    TRUTHS,
    LabelError,
    annotations_of_results,
    extraction_tasks,
    repetition_tasks,
)
from ingest.label.store import Given, LabelStore, as_results, disagreements, unfinished

_FOLDER = Path(__file__).with_name("codebook")
# What annotators are told, by the kind of task.
CODEBOOKS = {"pair": _FOLDER / "repetition.md", "turn": _FOLDER / "extraction.md"}

__all__ = [
    "AUDIT_FLAGS",
    "CANNOT_JUDGE",
    "CODEBOOKS",
    "EXTRACTION_CONFIG",
    "LABELS",
    "QUALITIES",
    "REPETITION_CONFIG",
    "TRUTHS",
    "Given",
    "LabelError",
    "LabelStore",
    "annotations_of_results",
    "as_results",
    "disagreements",
    "extraction_tasks",
    "repetition_tasks",
    "unfinished",
    "write_annotations",
]
