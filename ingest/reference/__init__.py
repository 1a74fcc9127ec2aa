"""The lists every other room looks things up in: languages, the eight-turn template and its terms, argument types.

The CSV files beside this module are the only place where they are written down. Turn template: Table 12 of the paper
(B.1), sentence counts from 3.1; argument types: the ten buckets of D.2 and D.3; length units: E.5.
"""

from __future__ import annotations

import csv
import re
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Literal

import pyarrow as pa

from ingest.parquet import write_table

LANGUAGES_SCHEMA = pa.schema(
    [
        pa.field(name, pa.string(), nullable=False)
        for name in (
            "language",
            "name",
            "native_name",
            "script",
            "direction",
            "length_unit",
            "sentence_terminators",
        )
    ]
)
TURN_TEMPLATE_SCHEMA = pa.schema(
    [
        pa.field("turn_index", pa.int32(), nullable=False),
        pa.field("phase", pa.string(), nullable=False),
        pa.field("role", pa.string(), nullable=False),
        pa.field("side", pa.string(), nullable=False),
        pa.field("expected_sentences", pa.int32(), nullable=False),
        pa.field("label", pa.string(), nullable=False),
    ]
)
ARGUMENT_TYPES_SCHEMA = pa.schema(
    [pa.field("argument_type", pa.string(), nullable=False), pa.field("description", pa.string(), nullable=False)]
)


@dataclass(frozen=True)
class Language:
    """A language a debate can be held in. `sentence_terminators` is a set of characters written as one string."""

    language: str
    name: str
    native_name: str
    script: str
    direction: Literal["ltr", "rtl"]
    length_unit: Literal["tokens", "characters"]
    sentence_terminators: str


@dataclass(frozen=True)
class TemplateTurn:
    """One of the eight turns every session has."""

    turn_index: int
    phase: str
    role: str
    side: str
    expected_sentences: int
    label: str


@dataclass(frozen=True)
class ArgumentType:
    """One of the ten buckets that argument types are collapsed to."""

    argument_type: str
    description: str


def languages() -> tuple[Language, ...]:
    """The known languages, the six of the paper first, then alphabetically by code, `und` (undetermined) last."""
    return tuple(Language(**row) for row in _rows("languages.csv"))


def turn_template() -> tuple[TemplateTurn, ...]:
    """The turns of a complete session, in speaking order."""
    return tuple(
        TemplateTurn(
            turn_index=int(row["turn_index"]),
            phase=row["phase"],
            role=row["role"],
            side=row["side"],
            expected_sentences=int(row["expected_sentences"]),
            label=row["label"],
        )
        for row in _rows("turn_template.csv")
    )


def argument_types() -> tuple[ArgumentType, ...]:
    """The ten argument-type buckets, `other` last."""
    return tuple(ArgumentType(**row) for row in _rows("argument_types.csv"))


# Archives hold few spellings, but may hold anything.
@lru_cache(maxsize=1024)
def turn_term(field: Literal["phase", "role", "side"], spelling: str) -> str:
    """The template's term for a spelling of it ("Cross-exam." is cross_exam); a spelling that is not listed as it is.

    Case, white space and punctuation do not tell spellings apart.
    """
    plain = " ".join(re.findall(r"[^\W_]+", spelling.casefold()))
    return _turn_terms().get((field, plain), spelling)


@cache
def _turn_terms() -> dict[tuple[str, str], str]:
    return {(row["field"], row["spelling"]): row["term"] for row in _rows("turn_terms.csv")}


def write_reference(dest: Path) -> None:
    """Writes languages.parquet, turn_template.parquet and argument_types.parquet into `dest`."""
    dest.mkdir(parents=True, exist_ok=True)
    for name, records, schema in (
        ("languages", languages(), LANGUAGES_SCHEMA),
        ("turn_template", turn_template(), TURN_TEMPLATE_SCHEMA),
        ("argument_types", argument_types(), ARGUMENT_TYPES_SCHEMA),
    ):
        table = pa.Table.from_pylist([asdict(record) for record in records], schema=schema)
        write_table(dest / f"{name}.parquet", table)


def _rows(name: str) -> list[dict[str, str]]:
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines(), strict=True))
