"""Which language a debate is in: as the source says it, else detected."""

from __future__ import annotations

from functools import cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from ingest.reference import languages

UNDETERMINED = "und"

# Below this the detector's own probability says that it guesses (a debate of numbers, of names, of two words).
MIN_CONFIDENCE = 0.5
# A few paragraphs settle a language; more would only take longer.
DETECTED_CHARACTERS = 4000


def listed(named: str) -> str | None:
    """The code in `ingest/reference/languages.csv` for a code, a tag (`zh-Hans`) or a name; None when not listed."""
    return _known().get(named.strip().casefold()) or _known().get(
        named.strip().casefold().replace("_", "-").split("-")[0]
    )


def detected(text: str) -> tuple[str, str]:
    """The language of a text, and a sentence on how sure that is.

    `und` when the most likely language is less likely than `MIN_CONFIDENCE`, or not listed.
    """
    code, confidence = _identifier().classify(text[:DETECTED_CHARACTERS])
    said = f"The detector says {code} (probability {confidence:.2f})"
    if confidence < MIN_CONFIDENCE:
        return UNDETERMINED, f"{said}, which is a guess."
    if code not in _known():
        return UNDETERMINED, f"{said}, which ingest/reference/languages.csv does not list."
    return code, f"{said}."


@cache
def _known() -> dict[str, str]:
    return {
        spelling.casefold(): language.language
        for language in languages()
        for spelling in (language.language, language.name, language.native_name)
    }


@cache
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
