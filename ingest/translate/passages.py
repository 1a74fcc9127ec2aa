"""Speeches as they are translated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Passage:
    """A speech to be put into another language."""

    session_id: str
    turn_index: int
    language: str
    source_text: str

    @property
    def name(self) -> str:
        return f"{self.session_id}/{self.turn_index}"

    @property
    def subject(self) -> Mapping[str, str | int]:
        """What a call for it is recorded as being about."""
        return {"session_id": self.session_id, "turn_index": self.turn_index, "language": self.language}
