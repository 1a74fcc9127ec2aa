"""Mistakes in a mapping are told when it is read, with the setting and the remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.importers import MappingError, load_mapping

GOOD = "name: x\nformat: json\nturns: {each: turns, text: text}\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (GOOD.replace("text: text", "text: 'a ||'"), "turns.0.text.path: 'a \\|\\|' is not a JMESPath expression"),
        (GOOD.replace("text: text", "texts: text"), "turns.0.text: Field required"),
        (GOOD.replace("text: text", "text: {}"), "give exactly one of path, constant, level and by_language"),
        (GOOD + "file_name: '('\n", "file_name: '\\(' is not a regular expression"),
        (GOOD + "debates: {group_by: id}\n", "are for lines and rows, not for json"),
        (GOOD + "units: claims\n", "units names claims, but neither"),
        (GOOD.replace("format: json", "format: csv") + "debates: {each: x}\n", "debates.each is for json"),
        ("name: [", "is not readable YAML"),
        ("", "name: Field required"),
    ],
)
def test_a_mapping_that_cannot_be_used_says_why(text: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "mapping.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(MappingError, match=told) as caught:
        load_mapping(file)
    assert str(file) in str(caught.value)


def test_an_unknown_name_lists_the_ready_ones() -> None:
    with pytest.raises(MappingError, match="agents_rounds, events, markdown, messages, speeches, turn_logs"):
        load_mapping("mesages")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(MappingError, match=r"absent\.yaml cannot be read"):
        load_mapping(tmp_path / "absent.yaml")
