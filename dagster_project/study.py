"""A study: which archive is analysed, how, and with which encoders. Read here, once, and handed on as plain values."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

import pyarrow as pa
import yaml
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError, field_validator, model_validator

from dagster_project.lake import resolve_lake

STUDIES = Path(__file__).resolve().parent / "studies"
STUDY_VARIABLE = "REPRISE_STUDY"
IMPORTED_ARCHIVE = "imported_archive"
ARCHIVE_VARIABLE = "REPRISE_ARCHIVE"

EmbeddedField = Literal["claim", "claim_warrant", "claim_warrant_evidence"]
Names = Annotated[tuple[str, ...], Field(min_length=1)]


class StudyError(ValueError):
    """A study file that cannot be used; the message names the file, the setting and the remedy."""


class Estimator(BaseModel):
    """Settings of the motion-cluster bootstrap [paper 3.6, E.1]."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    n_resamples: int = Field(5000, ge=100, le=1_000_000)
    seed: int = Field(42, ge=0, lt=2**63)
    confidence: float = Field(0.95, gt=0.5, lt=1)
    min_clusters: int = Field(20, ge=2)


class _Phase(BaseModel):
    """What the phases of a generation have in common: which motions, in which languages. None means all."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    motions: Annotated[int, Field(ge=1)] | Names | None = None
    languages: Names | None = None


class DebatePhase(_Phase):
    """Debates: motions × languages × conditions × repeats. A number of motions takes that many, evenly spaced."""

    kind: Literal["debates"] = "debates"
    conditions: Names
    repeats: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)] = (1,)


class DecodingPhase(_Phase):
    """Single-turn continuations of the debates of a phase, under each temperature and each top_p [paper E.3]."""

    kind: Literal["decoding"]
    of: str
    agents: Names
    turns: Annotated[tuple[Annotated[int, Field(ge=1, le=8)], ...], Field(min_length=1)] = (8,)
    temperature: tuple[Annotated[float, Field(ge=0, le=2)], ...] = ()
    top_p: tuple[Annotated[float, Field(gt=0, le=1)], ...] = ()

    @model_validator(mode="after")
    def _something_varies(self) -> "DecodingPhase":
        if not self.temperature and not self.top_p:
            raise ValueError("names neither temperature nor top_p values")
        return self


class ExtractionPhase(_Phase):
    """Debates of a phase, extracted again by further extractors [paper F.6]."""

    kind: Literal["extraction"]
    of: str
    extractors: Names


class TranslationPhase(_Phase):
    """Motions translated from the reference language, back-translated and judged [paper B.2].

    `translator` is `google`, the path of a CSV file, or an agent.
    """

    kind: Literal["translation"]
    languages: Names
    translator: str
    back_translator: str
    judge: str

    @property
    def reads_a_file(self) -> bool:
        return self.translator.endswith(".csv")


def _kind(phase: object) -> str:
    return phase.get("kind", "debates") if isinstance(phase, dict) else getattr(phase, "kind", "debates")


_PHASES: dict[str, type[_Phase]] = {
    "debates": DebatePhase,
    "decoding": DecodingPhase,
    "extraction": ExtractionPhase,
    "translation": TranslationPhase,
}
Phase = Annotated[
    Annotated[DebatePhase, Tag("debates")]
    | Annotated[DecodingPhase, Tag("decoding")]
    | Annotated[ExtractionPhase, Tag("extraction")]
    | Annotated[TranslationPhase, Tag("translation")],
    Discriminator(_kind),
]


class Generation(BaseModel):
    """How a study's debates are made: its motions, prompts, agents and phases, and the folder of its records."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    motions: Path
    records: Path
    pack: str = "reprise"
    agents_file: Path | None = None
    agents: Names
    extractors: tuple[str, ...] = ()
    role_seed: int = Field(42, ge=0)
    phases: Annotated[dict[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")], Phase], Field(min_length=1)]

    @model_validator(mode="after")
    def _phases_follow_debates(self) -> "Generation":
        for name, phase in self.phases.items():
            of = getattr(phase, "of", None)
            if of is not None and not isinstance(self.phases.get(of), DebatePhase):
                raise ValueError(f"phase '{name}' is of '{of}', which is no phase of debates")
        return self


class ImportSettings(BaseModel):
    """Where a study's debates come from when they are not in the archive format: a mapping and what it is used on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mapping: str
    source: Path
    crosswalk: Path | None = None


class Study(BaseModel):
    """The settings of one study file. A list that is left out (None) means: everything that the archive holds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
    archive: Path | None = None
    imports: ImportSettings | None = Field(None, alias="import")
    lake: Path | None = None

    reference_language: str = "en"
    baseline_condition: str = "baseline"
    languages: Names | None = None
    conditions: Names | None = None
    motions: Names | None = None
    extractors: Names | None = None
    agents: Names | None = None

    encoders: Names
    fields: Annotated[tuple[EmbeddedField, ...], Field(min_length=1)] = ("claim",)
    # Pair scorers beside the encoders' cosine; none is a choice as well.
    scorers: tuple[str, ...] = ("chrf",)

    # Attributes whose groups are contrasted, each with its reference group; none is the group with the most debates.
    groupings: dict[str, str | None] = {}
    # What is resampled for them: motions, or debates where there is one motion.
    cluster: Literal["motion", "session"] = "motion"
    # Whether debates have the eight turns of the template, or any turns.
    protocol: Literal["template", "free"] = "template"
    incomplete_sessions: Literal["refuse", "exclude", "include"] = "refuse"
    rejects: Literal["refuse", "accept"] = "refuse"
    estimator: Estimator = Estimator()
    generation: Generation | None = None

    @field_validator("languages", "conditions", "motions", "extractors", "agents", "encoders", "fields", "scorers")
    @classmethod
    def _names_are_distinct(cls, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        repeated = sorted({name for name in names or () if (names or ()).count(name) > 1})
        if repeated:
            raise ValueError(f"names {', '.join(repeated)} more than once")
        return names

    @model_validator(mode="after")
    def _reference_is_selected(self) -> "Study":
        if (self.archive is None) == (self.imports is None):
            raise ValueError("give either archive or import: debates come from one of them")
        if self.languages and self.reference_language not in self.languages:
            raise ValueError(f"reference_language '{self.reference_language}' is not among languages")
        if self.conditions and self.baseline_condition not in self.conditions:
            raise ValueError(f"baseline_condition '{self.baseline_condition}' is not among conditions")
        return self


def load_study(
    named: str | None = None,
    *,
    known_encoders: Iterable[str],
    known_languages: Iterable[str],
    known_scorers: Iterable[str],
) -> Study:
    """The study called `named`: a file in `dagster_project/studies/`, or the path of a YAML file.

    Without a name `REPRISE_STUDY` decides, else `sample`. `REPRISE_ARCHIVE` replaces the study's archive. Relative
    paths inside a study file start at that file. Raises StudyError.
    """
    named = named or os.environ.get(STUDY_VARIABLE) or "sample"
    if named.endswith((".yaml", ".yml")):
        file = _resolved(Path(named), "study", Path(named), Path())
    else:
        file = STUDIES / f"{named}.yaml"
    if not file.is_file():
        shipped = ", ".join(sorted(path.stem for path in STUDIES.glob("*.yaml")))
        raise StudyError(
            f"There is no study file {file}. Shipped studies: {shipped}; or give the path of a .yaml file."
        )
    try:
        study = Study.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")) or {})
    except OSError as error:
        raise StudyError(f"{file} cannot be read ({error.strerror}). Check its permissions.") from error
    except ValidationError as error:
        raise StudyError(f"{file} is not a usable study: {_faults(error)}.") from error
    # A ValueError is a scalar that looks like something else, such as the date 2026-13-45, or bytes that are no text.
    except (yaml.YAMLError, ValueError) as error:
        raise StudyError(f"{file} is not readable YAML: {error}") from error

    _require_known(file, "encoders", study.encoders, known_encoders, "declared in embeddings/encoders.yaml")
    _require_known(
        file,
        "languages",
        {*(study.languages or ()), study.reference_language},
        known_languages,
        "listed in ingest/reference/languages.csv",
    )
    _require_known(file, "scorers", study.scorers, known_scorers, "declared in embeddings/scorers.py")
    archive = os.environ.get(ARCHIVE_VARIABLE)
    lake = study.lake and _resolved(file, "lake", study.lake, file.parent)
    if archive or study.archive:
        place = _resolved(file, "archive", Path(archive or study.archive), Path() if archive else file.parent)
    else:
        # Not resolved: the link follows whatever was imported last.
        place = resolve_lake(lake).root / IMPORTED_ARCHIVE / "current"
    return study.model_copy(
        update={
            "archive": place,
            "lake": lake,
            "imports": study.imports and _located_import(file, study.imports),
            "generation": study.generation and _located(file, study.generation),
        }
    )


def study_table(study: Study) -> pa.Table:
    """The study as a one-row table: how its settings travel to SQL (see docs/architecture.md)."""
    names = pa.list_(pa.string())
    schema = pa.schema(
        [
            ("name", pa.string()),
            ("archive", pa.string()),
            ("reference_language", pa.string()),
            ("baseline_condition", pa.string()),
            ("languages", names),
            ("conditions", names),
            ("motions", names),
            ("extractors", names),
            ("agents", names),
            ("encoders", names),
            ("fields", names),
            ("scorers", names),
            ("groupings", names),
            ("cluster", pa.string()),
            ("protocol", pa.string()),
            ("incomplete_sessions", pa.string()),
            ("rejects", pa.string()),
            ("n_resamples", pa.int64()),
            ("seed", pa.int64()),
            ("confidence", pa.float64()),
            ("min_clusters", pa.int64()),
        ]
    )
    places = {"lake", "imports", "estimator", "generation"}
    row = study.model_dump(mode="json", exclude=places) | study.estimator.model_dump()
    # The folder's own name identifies the archive; where it lies on somebody's disk is not part of the data.
    row["groupings"] = list(study.groupings)
    row["archive"] = study.name if study.imports else study.archive.name
    return pa.Table.from_pylist([row], schema=schema)


def _located_import(file: Path, imports: ImportSettings) -> ImportSettings:
    is_file = imports.mapping.endswith((".yaml", ".yml"))
    return ImportSettings(
        mapping=str(_resolved(file, "import.mapping", Path(imports.mapping), file.parent))
        if is_file
        else imports.mapping,
        source=_resolved(file, "import.source", imports.source, file.parent),
        crosswalk=imports.crosswalk and _resolved(file, "import.crosswalk", imports.crosswalk, file.parent),
    )


def _resolved(file: Path, setting: str, path: Path, start: Path) -> Path:
    try:
        return (start / path.expanduser()).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise StudyError(f"{file}: {setting} {str(path)!r} is no path that can be followed: {error}.") from error


def _faults(error: ValidationError) -> str:
    """What is wrong, setting by setting; for a setting that does not exist, with those that do."""
    faults = []
    for fault in error.errors():
        place = fault["loc"]
        known = _settings_of(place)
        remedy = f" (known settings: {', '.join(known)})" if fault["type"] == "extra_forbidden" else ""
        faults.append(f"{'.'.join(map(str, place)) or 'study'}: {fault['msg']}{remedy}")
    return "; ".join(faults)


def _settings_of(place: tuple[int | str, ...]) -> Iterable[str]:
    """The settings that the section at this place of a study file has."""
    match place:
        case ("estimator", *_):
            return Estimator.model_fields
        case ("generation", "phases", _, str(kind), *_):
            return _PHASES[kind].model_fields
        case ("generation", *_):
            return Generation.model_fields
    return Study.model_fields


def _located(file: Path, generation: Generation) -> Generation:
    """The generation with its relative paths resolved; a shipped pack keeps its plain name."""

    def at(setting: str, path: Path) -> Path:
        return _resolved(file, f"generation.{setting}", path, file.parent)

    pack = Path(generation.pack)
    phases = {
        name: phase.model_copy(update={"translator": str(at(f"phases.{name}.translator", Path(phase.translator)))})
        if isinstance(phase, TranslationPhase) and phase.reads_a_file
        else phase
        for name, phase in generation.phases.items()
    }
    return generation.model_copy(
        update={
            "phases": phases,
            "motions": at("motions", generation.motions),
            "records": at("records", generation.records),
            "agents_file": generation.agents_file and at("agents_file", generation.agents_file),
            "pack": str(at("pack", pack)) if len(pack.parts) > 1 else generation.pack,
        }
    )


def _require_known(file: Path, setting: str, named: Iterable[str], known: Iterable[str], where: str) -> None:
    known = sorted(known)
    unknown = [name for name in named if name not in known]
    if unknown:
        raise StudyError(f"{file}: {setting} names {', '.join(unknown)}, not {where}. Known: {', '.join(known)}.")
