"""Which agent holds which role in the debates of a motion [paper 3.1, B.1]."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations

from ingest.errors import IngestError
from ingest.reference import turn_template

ROLES: tuple[str, ...] = tuple(dict.fromkeys(turn.role for turn in turn_template()))
# Numbers of agents that four roles can be shared by evenly.
_SHARES = (1, 2, 4)


class RoleError(IngestError):
    """Agents that cannot fill the roles of a debate."""


def assign_roles(
    motion_ids: Iterable[str],
    agents: Sequence[str],
    seed: int,
    held: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, dict[str, str]]:
    """The agent of each role, for each motion: {motion_id: {role: agent}}.

    Assignments are dealt in order of motion id, each motion one. Any four in a row that begin a round of four are a
    Latin square and any 24 that begin a round of 24 are all permutations, so that over any number of motions an agent's
    count in one role differs by at most one from its count in another. The seed decides the order, the order in which
    agents are named does not. Motions in `held` keep what they hold and the others are dealt on behind them.

    One or two agents fill the four roles with several seats each. Raises RoleError for any number but 1, 2 and 4.
    """
    if len(set(agents)) != len(agents) or len(agents) not in _SHARES:
        raise RoleError(
            f"{len(agents)} agents ({', '.join(agents)}) cannot share {len(ROLES)} roles evenly. Name 1, 2 or 4."
        )
    seats = sorted(agents) * (len(ROLES) // len(agents))
    wanted = set(motion_ids)
    held = held or {}
    assigned = {motion_id: dict(mapping) for motion_id, mapping in held.items()}
    free = sorted(wanted - assigned.keys())
    for place, motion_id in enumerate(free, start=len(held)):
        order = _seat_order(place, len(seats), seed)
        assigned[motion_id] = {role: seats[seat] for role, seat in zip(ROLES, order, strict=True)}
    return {motion_id: assigned[motion_id] for motion_id in sorted(wanted)}


def _seat_order(place: int, n_seats: int, seed: int) -> tuple[int, ...]:
    """The permutation of seats dealt at `place`: rounds of all circular orders, each with all of its rotations."""
    circles = [(0, *rest) for rest in permutations(range(1, n_seats))]
    round_, within = divmod(place, len(circles) * n_seats)
    circle_at, rotation_at = divmod(within, n_seats)
    circle = _shuffled(circles, f"{seed}/{round_}")[circle_at]
    start = _shuffled(range(n_seats), f"{seed}/{round_}/{circle_at}")[rotation_at]
    return circle[start:] + circle[:start]


def _shuffled(items: Iterable, salt: str) -> list:
    """The items in an order that follows from `salt` alone, on any machine and in any version of Python."""
    return sorted(items, key=lambda item: hashlib.sha256(f"{salt}/{item}".encode()).digest())
