"""Imports of other people's transcripts: into a study's lake, and the study file of a first one."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import yaml

from dagster_project.lake import Lake
from dagster_project.study import IMPORTED_ARCHIVE, ImportSettings, StudyError
from ingest.importers import ImportReport, import_debates, load_mapping

_STUDY = """\
# Imported debates; docs/bring-your-own.md says what the settings mean.
name: {name}
import: {imports}
lake: lake

protocol: free                  # debates of any shape; `template` expects the eight turns of the published study
reference_language: {language}
baseline_condition: {condition}
encoders: [use-multilingual-v3] # the faster of the two that run offline; the other is multilingual-e5-small
fields: [claim]
incomplete_sessions: include    # a debate that lacks a speech stays in; `exclude` leaves it out
"""


def import_into(
    lake: Lake, name: str, settings: ImportSettings, progress: Callable[[int, int], None] | None = None
) -> ImportReport:
    """Imports the source as the part `name` of the lake's imported archive, in one step or not at all."""
    mapping = load_mapping(settings.mapping)
    with lake.replace(IMPORTED_ARCHIVE) as directory:
        return import_debates(
            mapping, settings.source, directory / name, crosswalk=settings.crosswalk, progress=progress
        )


def check_same_import(study_file: Path, settings: ImportSettings) -> None:
    """Raises StudyError when the file is there and imports something else: its lake would be replaced."""
    if not study_file.exists():
        return
    try:
        said = (yaml.safe_load(study_file.read_text(encoding="utf-8")) or {}).get("import")
    except (yaml.YAMLError, AttributeError) as error:
        raise StudyError(f"{study_file} is not a study file. Move it away, or give another name.") from error
    if said != _as_written(settings):
        raise StudyError(f"{study_file} imports {said}. Change it there, or give another name (NAME=...).")


def write_study(study_file: Path, name: str, settings: ImportSettings, report: ImportReport) -> None:
    """Writes the study file of an import, unless it is there: a person may have changed it."""
    if study_file.exists():
        return
    conditions = report.conditions
    text = _STUDY.format(
        name=name,
        imports=json.dumps(_as_written(settings), ensure_ascii=False),
        language=next(iter(report.languages)),
        condition=json.dumps("baseline" if "baseline" in conditions else next(iter(conditions)), ensure_ascii=False),
    )
    study_file.write_text(text, encoding="utf-8")


def slug(name: str) -> str:
    """A study's name made of a folder's or file's."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "debates"


def _as_written(settings: ImportSettings) -> dict[str, str]:
    return settings.model_dump(mode="json", exclude_none=True)
