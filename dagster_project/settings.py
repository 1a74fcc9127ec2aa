"""The study in force and the encoders it picks, read once per process."""

from dagster_project.study import Study, load_study
from embeddings.encoders import EncoderSpec, load_specs
from embeddings.scorers import SCORERS, ScorerSpec
from ingest.reference import languages

_declared = load_specs()
settings: Study = load_study(
    known_encoders=_declared,
    known_languages=[language.language for language in languages()],
    known_scorers=SCORERS,
)
encoder_specs: list[EncoderSpec] = [_declared[name] for name in settings.encoders]
scorer_specs: list[ScorerSpec] = [SCORERS[name] for name in settings.scorers]
