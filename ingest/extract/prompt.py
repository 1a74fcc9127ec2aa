"""What an extractor is asked [paper 3.2, D.1]: two templates and the schema of the answer."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from ingest.extract.speeches import Speech
from ingest.parse.extractor_answer import MAX_UNITS, TEXT_FIELDS
from ingest.reference import argument_types
from ingest.run.agents import Agent
from ingest.run.answer_schema import object_schema, output_limit, schema_for
from ingest.run.call import CallRequest, Message
from ingest.run.templates import check_placeholders, fill, read_template

PROMPT = Path(__file__).with_name("prompt")
PLACEHOLDERS = ("motion_text", "side", "turn_text")

# The extractor's decoding, whatever an agent's own defaults are.
TEMPERATURE = 0
MAX_TOKENS = 1024

_TYPES = [*(kind.argument_type for kind in argument_types()), "unclear"]
_UNIT = object_schema(
    {name: {"type": "string"} for name in TEXT_FIELDS} | {"argument_type": {"type": "string", "enum": _TYPES}}
)
ANSWER_SCHEMA = object_schema({"arguments": {"type": "array", "minItems": 1, "maxItems": MAX_UNITS, "items": _UNIT}})


@dataclass(frozen=True)
class ExtractionPrompt:
    """The templates of the two messages that an extractor gets."""

    system: str
    user: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(f"{self.system}\0{self.user}".encode()).hexdigest()

    def messages(self, speech: Speech) -> tuple[Message, ...]:
        """The messages about one speech. The side is written with a capital, as in a prompt's sentence."""
        values = {"motion_text": speech.motion_text, "side": speech.side.capitalize(), "turn_text": speech.text}
        return (
            {"role": "system", "content": self.system},
            {"role": "user", "content": fill(self.user, values)},
        )


def load_extraction_prompt(directory: Path = PROMPT) -> ExtractionPrompt:
    """The prompt of a folder with system.txt and user.txt, its placeholders checked. Raises TemplateError."""
    system, user = read_template(directory / "system.txt"), read_template(directory / "user.txt")
    check_placeholders(str(directory / "system.txt"), system, ())
    check_placeholders(str(directory / "user.txt"), user, PLACEHOLDERS, once=("turn_text",))
    return ExtractionPrompt(system, user)


def extraction_request(prompt: ExtractionPrompt, speech: Speech, extractor: Agent) -> CallRequest:
    """The one call that takes a speech apart."""
    return CallRequest(
        agent=extractor,
        messages=prompt.messages(speech),
        stage="extraction",
        parameters={"temperature": TEMPERATURE, **output_limit(extractor, MAX_TOKENS)},
        response_schema=schema_for(extractor, ANSWER_SCHEMA),
        subject={"session_id": speech.session_id, "turn_index": speech.turn_index, "extractor": extractor.name},
        is_parsed=True,
    )
