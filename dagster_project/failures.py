"""Faults that a person can mend, told as the rooms tell them: a sentence, not a stack."""

import contextlib
from collections.abc import Iterator

import dagster as dg

from dagster_project.lake import LakeError
from dagster_project.publish import IncompleteBuild
from dagster_project.study import StudyError
from embeddings.arguments import ArgumentsError
from embeddings.pairs import MissingVectorsError
from embeddings.spec import EncoderSettingsError, EncoderUnavailable, EncodingError
from embeddings.store import StoreError
from ingest.errors import IngestError

MENDABLE = (
    ArgumentsError,
    EncoderSettingsError,
    EncoderUnavailable,
    EncodingError,
    IncompleteBuild,
    IngestError,
    LakeError,
    MissingVectorsError,
    StoreError,
    StudyError,
)


@contextlib.contextmanager
def told_plainly() -> Iterator[None]:
    """A room's own error as a Dagster failure whose description is the error's sentence. Retrying would not help."""
    try:
        yield
    except MENDABLE as error:
        raise dg.Failure(description=str(error), allow_retries=False) from error
