"""Claims that came without a turn: put where their text stands, or nowhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from ingest.importers.texts import plain

Match = Literal["exact", "normalised"]


class Placer:
    """Places claims in the turns of one debate, by exact text, then by its letters and digits alone.

    A claim that stands in several turns is placed in the earliest; the same claim again in the next one, as a speech
    that is repeated repeats its claims.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._plain: list[str] | None = None
        self._seen: Counter[tuple[str, tuple[int, ...]]] = Counter()

    def place(self, claim: str, among: Sequence[int]) -> tuple[int, Match] | None:
        """The position of the claim's turn `among` these, and how it was found; None when no turn has it."""
        claim = claim.strip()
        places = [position for position in among if claim in self._texts[position]]
        match: Match = "exact"
        if not places:
            if self._plain is None:
                self._plain = [plain(text) for text in self._texts]
            letters = plain(claim)
            # A claim without a letter or digit is in every text.
            places = [position for position in among if letters and letters in self._plain[position]]
            match = "normalised"
        if not places:
            return None
        again = self._seen[claim, tuple(places)]
        self._seen[claim, tuple(places)] += 1
        return places[min(again, len(places) - 1)], match
