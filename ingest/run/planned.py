"""What a plan asks for: debates, and single speeches in the place of one that a debate already has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PlannedSession:
    """One debate to generate. `role_mapping` says which agent holds each role (pro_1, con_1, pro_2, con_2)."""

    session_id: str
    motion_id: str
    motion_text: str
    language: str
    condition: str
    repeat: int
    role_mapping: Mapping[str, str]


@dataclass(frozen=True)
class PlannedContinuation:
    """One speech to generate in the place of turn `turn_index` of a debate, after its turns as they stand [paper E.3].

    `context` is the debate as it was planned; `agent` gives the speech with `parameters` on top of its own, whoever
    gave it in the debate.
    """

    context: PlannedSession
    turn_index: int
    agent: str
    parameters: Mapping[str, Any]

    @property
    def condition(self) -> str:
        """The condition under which the continuation is archived, such as `mistral temperature=0.2`."""
        return " ".join([self.agent, *(f"{name}={value}" for name, value in sorted(self.parameters.items()))])

    @property
    def session_id(self) -> str:
        return f"{self.context.session_id}-t{self.turn_index}-{self.condition.replace(' ', '-')}"


def session_id_of(motion_id: str, language: str, condition: str, repeat: int) -> str:
    """The name of a planned debate; also the name by which it is resumed."""
    return f"{motion_id}-{language}-{condition}-r{repeat}"
