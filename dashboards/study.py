"""What the warehouse was built for: the study's choices and the reference lists, in the order pages show them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dashboards.text import Direction
from dashboards.warehouse import Ask, query

# The paper's focal contrast is Chinese against English [4.1]; pages start with it where the warehouse has it.
FOCAL_LANGUAGE = "zh"

FIELDS = {
    "claim": "claim",
    "claim_warrant": "claim + warrant",
    "claim_warrant_evidence": "claim + warrant + evidence",
}
AGGREGATES = {"agent_mean": "mean over agents", "turn_mean": "mean over turns"}


@dataclass(frozen=True)
class Language:
    code: str
    name: str
    direction: Direction


@dataclass(frozen=True)
class Study:
    """The row of `marts.study` that pages need, with the values that really occur, in the study's order."""

    name: str
    reference_language: str
    baseline_condition: str
    min_clusters: int
    confidence: float
    languages: Mapping[str, Language]
    conditions: tuple[str, ...]
    extractors: tuple[str, ...]
    encoders: tuple[str, ...]
    fields: tuple[str, ...]
    variants: tuple[str, ...]

    def language(self, code: str) -> Language:
        """The language of `code`; one that no reference list names is shown by its code, left to right."""
        return self.languages.get(code) or Language(code, code, "ltr")

    @property
    def reference_name(self) -> str:
        return self.language(self.reference_language).name

    @property
    def other_languages(self) -> tuple[str, ...]:
        return tuple(code for code in self.languages if code != self.reference_language)

    @property
    def focal_language(self) -> str | None:
        """The language a page starts with: Chinese when present, else the first that is not the reference."""
        others = self.other_languages
        return FOCAL_LANGUAGE if FOCAL_LANGUAGE in others else next(iter(others), None)

    @property
    def other_conditions(self) -> tuple[str, ...]:
        return tuple(name for name in self.conditions if name != self.baseline_condition)

    @property
    def interval_name(self) -> str:
        return f"{self.confidence:.0%} interval"


def load_study(ask: Ask = query) -> Study:
    """The study of the pinned snapshot, or of the one that `ask` asks; it must hold sessions."""
    row = ask("study").first() or {}
    measures = ask("measures").records()
    named = {record["language"]: record for record in ask("languages").records()}
    present = ask("languages_present").column("language")
    reference = row.get("reference_language") or "en"
    baseline = row.get("baseline_condition") or "baseline"
    codes = ordered(present, row.get("languages") or [reference])
    return Study(
        name=row.get("name") or "unnamed",
        reference_language=reference,
        baseline_condition=baseline,
        min_clusters=row.get("min_clusters") or 20,
        confidence=row.get("confidence") or 0.95,
        languages={
            code: Language(code, named[code]["name"], named[code]["direction"])
            if code in named
            else Language(code, code, "ltr")
            for code in codes
        },
        conditions=ordered(ask("conditions_present").column("condition"), row.get("conditions") or [baseline]),
        extractors=ordered(
            {record["extractor"] for record in measures}, row.get("extractors") or [row.get("primary_extractor") or ""]
        ),
        encoders=ordered({record["encoder"] for record in measures}, row.get("encoders")),
        fields=ordered({record["field"] for record in measures}, row.get("fields") or list(FIELDS)),
        variants=ordered({record["variant"] for record in measures}, ["raw"]),
    )


def ordered(values: Iterable[str], order: Iterable[str] | None) -> tuple[str, ...]:
    """`values` without repeats: those that `order` names first and in its order, the rest alphabetically."""
    places = {value: place for place, value in enumerate(order or ())}
    return tuple(sorted(set(values), key=lambda value: (places.get(value, len(places)), value)))
