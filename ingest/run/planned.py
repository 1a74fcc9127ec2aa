"""What a plan asks for: debates, and single speeches in the place of one that a debate already has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


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


def session_id_of(motion_id: str, language: str, condition: str, repeat: int) -> str:
    """The name of a planned debate; also the name by which it is resumed."""
    return f"{motion_id}-{language}-{condition}-r{repeat}"
