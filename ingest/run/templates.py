"""Text with named placeholders, filled once: what is put in is never read as a template itself."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from ingest.errors import IngestError

# Anything in braces that looks like a name, so that {Motion text} is told as a wrong placeholder; JSON is left alone.
_PLACEHOLDER = re.compile(r"\{([^\W\d][\w .-]*)\}")


class TemplateError(IngestError):
    """A prompt file that cannot be used. `str()` names the file, the problem and the remedy."""


def read_template(path: Path) -> str:
    """The text of a template file, without the line ends it closes with. Raises TemplateError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise TemplateError(f"{path} cannot be read ({error.strerror}). Check that the file exists.") from error
    except UnicodeDecodeError as error:
        raise TemplateError(f"{path} is not UTF-8 at byte {error.start}. Save it as UTF-8.") from error
    text = text.rstrip("\n")
    if not text.strip():
        raise TemplateError(f"{path} is empty. Write its text, or remove the file.")
    return text


def placeholders(text: str) -> list[str]:
    """The names in braces, in the order they stand, repeated ones as often as they do."""
    return _PLACEHOLDER.findall(text)


def check_placeholders(
    where: str, text: str, known: Collection[str], *, optional: Collection[str] = (), once: Collection[str] = ()
) -> None:
    """Raises TemplateError when `text` has another placeholder than `known`, repeats one of `once`, or lacks one.

    The ones in `optional` may be lacking.
    """
    found = placeholders(text)
    if unknown := sorted(set(found) - set(known)):
        raise TemplateError(
            f"{where} has the unknown placeholder {_listed(unknown)}. Known are {_listed(known)}; "
            "write other words without braces."
        )
    if missing := [name for name in known if name not in found and name not in optional]:
        raise TemplateError(f"{where} lacks the placeholder {_listed(missing)}. Put it where its text belongs.")
    if repeated := [name for name in once if found.count(name) > 1]:
        raise TemplateError(f"{where} has {_listed(repeated)} more than once. Keep one of them.")


def fill(text: str, values: Mapping[str, str]) -> str:
    """`text` with each placeholder replaced by its value. Braces inside values stay what they are."""
    return _PLACEHOLDER.sub(lambda placeholder: values[placeholder[1]], text)


def _listed(names: Collection[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in names)
