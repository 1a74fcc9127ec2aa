"""Reading what a page shows: its HTML as text, and every element with the place where strings may be Markdown."""

from collections.abc import Iterator
from html.parser import HTMLParser

from streamlit.testing.v1 import AppTest


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def read_html(body: str) -> tuple[str, list[tuple[str, dict[str, str | None]]]]:
    """The text of an HTML fragment, and its tags with their attributes."""
    reader = _Reader()
    reader.feed(body)
    reader.close()
    return reader.text, reader.tags


def html_bodies(app: AppTest) -> list[str]:
    return [element.proto.body for element in app.get("html") if "<style>" not in element.proto.body]


def page_text(app: AppTest) -> str:
    """All text that the page's HTML blocks show."""
    return "\n".join(read_html(body)[0] for body in html_bodies(app))


def elements(app: AppTest) -> Iterator[tuple[str, object]]:
    """Type and protobuf message of every element and block of the page, the sidebar included."""

    def walk(node) -> Iterator[tuple[str, object]]:
        if getattr(node, "proto", None) is not None:
            yield node.type, node.proto
        for child in getattr(node, "children", {}).values():
            yield from walk(child)

    yield from walk(app._tree)
