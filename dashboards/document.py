"""A document of headings, paragraphs, tables and figures, as one HTML file and as Markdown beside images."""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import jinja2
from markupsafe import Markup

from dashboards import text

TEMPLATES = Path(__file__).with_name("templates")
# Characters that Markdown, or the HTML inside it, reads as more than themselves.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&])")


@dataclass(frozen=True)
class Table:
    """Rows of texts by column; `numbers` are the columns that are set to the right."""

    columns: Mapping[str, str]
    rows: Sequence[Mapping[str, object]]
    numbers: Sequence[str] = ()
    note: str | None = None


@dataclass(frozen=True)
class Picture:
    """A figure: the SVG itself, the name of its files, and what it shows."""

    name: str
    svg: str
    title: str
    caption: str


@dataclass(frozen=True)
class Section:
    """A heading and what is below it. A string is a paragraph of plain text."""

    title: str
    blocks: Sequence[str | Table | Picture]


@dataclass(frozen=True)
class Document:
    """Everything plain: nothing in it is markup."""

    title: str
    lines: Sequence[str]
    sections: Sequence[Section] = field(default_factory=tuple)


def as_html(document: Document) -> str:
    """The document as one HTML page that refers to nothing outside itself."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        # Escaped, and with the characters made visible that would reorder what is shown.
        "plain": lambda value: Markup(text.escape(text.shown(value))),
        "data_uri": lambda svg: "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode(),
        "kind": lambda block: type(block).__name__,
    }
    return environment.get_template("report.html.jinja").render(document=document)


def as_markdown(document: Document, images: str) -> str:
    """The document as Markdown whose pictures lie in the folder `images` beside it."""
    parts = [f"# {_escaped(document.title)}", *(_escaped(line) for line in document.lines)]
    for section in document.sections:
        parts.append(f"## {_escaped(section.title)}")
        for block in section.blocks:
            if isinstance(block, Table):
                parts += [_table(block), *([_escaped(block.note)] if block.note else [])]
            elif isinstance(block, Picture):
                parts += [
                    f"![{_escaped(block.title)}]({images}/{block.name}.svg)",
                    f"**{_escaped(block.title)}.** {_escaped(block.caption)}",
                ]
            else:
                parts.append(_escaped(block))
    return "\n\n".join(parts) + "\n"


def _table(table: Table) -> str:
    keys = list(table.columns)
    lines = [
        [_escaped(heading) for heading in table.columns.values()],
        ["---:" if key in table.numbers else "---" for key in keys],
        *([_escaped(text.shown(row.get(key))) for key in keys] for row in table.rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _escaped(value: object) -> str:
    return _SPECIAL.sub(r"\\\1", text.label(value))
