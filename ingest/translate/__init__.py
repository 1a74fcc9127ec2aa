"""Motions in several languages: translated, back-translated, judged, decided on by people, and locked.

And transcripts: translated, or sent there and back, to be measured in one language.
"""

from ingest.translate.answers import is_flagged
from ingest.translate.motions import MotionRecord, TranslationError, read_motion_records
from ingest.translate.passages import Passage
from ingest.translate.review import TranslationReport, review_motions, translate_motions
from ingest.translate.transcripts import (
    TranscriptReport,
    round_trip_condition,
    translate_debates,
    translated_condition,
)
from ingest.translate.translators import FileTranslator, GoogleTranslator, ModelTranslator, Translator
from ingest.translate.triage import export_triage, import_triage, lock_translations

__all__ = [
    "FileTranslator",
    "GoogleTranslator",
    "ModelTranslator",
    "MotionRecord",
    "Passage",
    "TranscriptReport",
    "TranslationError",
    "TranslationReport",
    "Translator",
    "export_triage",
    "import_triage",
    "is_flagged",
    "lock_translations",
    "read_motion_records",
    "review_motions",
    "round_trip_condition",
    "translate_debates",
    "translate_motions",
    "translated_condition",
]
