"""What a mapping file may say, checked when it is read.

A mapping tells where a foreign transcript keeps what the archive format asks for. Paths are JMESPath expressions
(https://jmespath.org), with one function more: `items(object)`, a list of `{key, value}`.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

import jmespath
import yaml
from jmespath.exceptions import JMESPathError
from jmespath.parser import ParsedResult
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from ingest.errors import IngestError

Format = Literal["json", "jsonl", "csv", "parquet", "markdown"]
Units = Literal["claims", "sentences"]

_PATTERNS: dict[Format, str] = {
    "json": "**/*.json",
    "jsonl": "**/*.jsonl",
    "csv": "**/*.csv",
    "parquet": "**/*.parquet",
    "markdown": "**/*.md",
}
READY = resources.files(__package__) / "mappings"


class MappingError(IngestError):
    """A mapping that cannot be used, or a source that it cannot be used on; the message says what to do."""


class PathError(MappingError):
    """A path that does not fit what it is used on; where one debate or file is at fault, only that is left out."""


class _Functions(jmespath.functions.Functions):
    @jmespath.functions.signature({"types": ["object"]})
    def _func_items(self, members: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"key": key, "value": value} for key, value in members.items()]


_OPTIONS = jmespath.Options(custom_functions=_Functions())


def found(path: str, content: Any) -> Any:
    """What `path` finds in `content`; None when it finds nothing. Raises PathError for a type it cannot take."""
    try:
        return _compiled(path).search(content, options=_OPTIONS)
    except JMESPathError as error:
        raise PathError(f"The path {path!r} cannot be followed here: {error}.") from error


@cache
def _compiled(path: str) -> ParsedResult:
    return jmespath.compile(path)


def _is_path(path: str) -> str:
    try:
        jmespath.compile(path)
    except JMESPathError as error:
        raise ValueError(f"{path!r} is not a JMESPath expression: {' '.join(str(error).split())}") from error
    return path


def _is_pattern(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is not a regular expression: {error}") from error
    return pattern


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


ItemPath = Annotated[str, AfterValidator(_is_path)]
Pattern = Annotated[str, AfterValidator(_is_pattern)]


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Value(_Settings):
    """Where one value is found: a path (in the turn, claim or debate at hand, in the debate, or in the file's name),
    a constant, the position in a nested list, or a path for each language.

    A plain string stands for `path`. `map` translates what was found, `default` stands in when nothing was.
    """

    path: ItemPath | None = None
    of: Literal["item", "debate", "file"] = "item"
    constant: str | int | None = None
    level: Annotated[int, Field(ge=1)] | None = None
    by_language: dict[str, ItemPath] | None = None
    prefix: str = ""
    map: dict[str | int, str | int | None] | None = None
    default: str | int | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_string(cls, value: Any) -> Any:
        return {"path": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _has_one_place(self) -> Value:
        given = [name for name in ("path", "constant", "level", "by_language") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"give exactly one of path, constant, level and by_language (given: {given or 'none'})")
        return self

    def __str__(self) -> str:
        return self.path or next(iter((self.by_language or {}).values()), "")


Attributes = dict[str, Value]


class ClaimRule(_Settings):
    """Where a turn's or a debate's claims are found. `turn` names the `key` of the turn a claim was made in."""

    each: Annotated[list[ItemPath], BeforeValidator(_as_list)] = ["@"]
    claim: Value
    warrant: Value | None = None
    evidence_or_example: Value | None = None
    argument_type: Value | None = None
    turn: Value | None = None
    agent: Value | None = None
    attributes: Attributes = {}


class TurnRule(_Settings):
    """Where turns are found: in each item of a list (of lists), or once in the debate itself.

    `where` keeps items for which the path is true; `order_by` sorts them; `merge` makes one turn of neighbours for
    which the value is the same.
    """

    each: Annotated[list[ItemPath], BeforeValidator(_as_list)] = []
    where: ItemPath | None = None
    order_by: Annotated[list[Value], BeforeValidator(_as_list)] = []
    merge: Value | None = None
    text: Value
    key: Value | None = None
    phase: Value | None = None
    role: Value | None = None
    side: Value | None = None
    agent: Value | None = None
    model_id: Value | None = None
    created_at: Value | None = None
    attributes: Attributes = {}
    claims: ClaimRule | None = None


class DebateRule(_Settings):
    """Where a debate's own values are found; every one may be left out."""

    id: Value | None = None
    motion_id: Value | None = None
    motion: Value | None = None
    language: Value | None = None
    condition: Value | None = None
    repeat: Value | None = None
    status: Value | None = None
    started_at: Value | None = None
    finished_at: Value | None = None
    attributes: Attributes = {}


class DebatesRule(_Settings):
    """How a file holds debates: `each` lists them inside one JSON document; lines and rows are one debate when they
    have the same `group_by`, or between one that `starts_at` is true for and the next; without any, a file is one."""

    each: ItemPath | None = None
    group_by: ItemPath | None = None
    starts_at: ItemPath | None = None
    across_files: bool = False

    @model_validator(mode="after")
    def _is_one_way(self) -> DebatesRule:
        if sum(way is not None for way in (self.each, self.group_by, self.starts_at)) > 1:
            raise ValueError("give one of each, group_by and starts_at")
        if self.across_files and self.group_by is None:
            raise ValueError("across_files needs group_by")
        return self


class Mapping(_Settings):
    """A mapping file."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
    description: str = ""
    format: Format
    files: str | None = None
    file_name: Pattern | None = None
    encoding: str = "utf-8"
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] = ","
    heading: Pattern = r"^#+[ \t]+(?P<heading>.+?)[ \t#]*$"

    languages: tuple[str, ...] = ()
    debates: DebatesRule = DebatesRule()
    debate: DebateRule = DebateRule()
    turns: Annotated[list[TurnRule], Field(min_length=1), BeforeValidator(_as_list)]
    missing: list[str | int] = ["-1", ""]
    reasoning_blocks: Literal["set_aside", "keep"] = "set_aside"
    claims: ClaimRule | None = None
    extractor: str = "imported"
    units: Annotated[tuple[Units, ...], BeforeValidator(_as_list)] | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Mapping:
        if self.debates.each is not None and self.format != "json":
            raise ValueError(f"debates.each is for json; {self.format} has group_by and starts_at")
        if self.format in ("json", "markdown") and (self.debates.group_by or self.debates.starts_at):
            raise ValueError(f"debates.group_by and starts_at are for lines and rows, not for {self.format}")
        if "claims" in (self.units or ()) and not self.has_claims:
            raise ValueError("units names claims, but neither claims nor a turn's claims says where they are")
        return self

    @property
    def has_claims(self) -> bool:
        return self.claims is not None or any(rule.claims for rule in self.turns)

    @property
    def pattern(self) -> str:
        """Which files of the source are read, as a glob below it."""
        return self.files or _PATTERNS[self.format]

    @property
    def extractors(self) -> tuple[Units, ...]:
        """Where argument units come from: as said, else the source's claims, else its sentences."""
        if self.units is not None:
            return self.units
        return ("claims",) if self.has_claims else ("sentences",)


def ready_mappings() -> dict[str, str]:
    """The mappings that come with Reprise: name and description."""
    files = sorted((file for file in READY.iterdir() if file.name.endswith(".yaml")), key=lambda file: file.name)
    contents = [yaml.safe_load(file.read_text(encoding="utf-8")) for file in files]
    return {content["name"]: content["description"] for content in contents}


def load_mapping(named: str | Path) -> Mapping:
    """The ready mapping of that name, or the one in a .yaml file. Raises MappingError."""
    if str(named).endswith((".yaml", ".yml")):
        file = Path(named).expanduser()
    else:
        file = Path(str(READY / f"{named}.yaml"))
        if not file.is_file():
            raise MappingError(
                f"There is no mapping {named!r}. Ready ones: {', '.join(ready_mappings())}; or give a .yaml file."
            )
    try:
        return Mapping.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")) or {})
    except OSError as error:
        raise MappingError(f"{file} cannot be read ({error.strerror or error}). Give a mapping's file.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise MappingError(f"{file} is not readable YAML: {error}") from error
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc'])) or 'mapping'}: {fault['msg'].removeprefix('Value error, ')}"
            for fault in error.errors()
        )
        raise MappingError(f"{file} is not a usable mapping: {faults}.") from error
