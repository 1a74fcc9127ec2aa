import csv
import io
from decimal import Decimal

import pytest

from dashboards.export import to_csv
from dashboards.warehouse import Answer


def answer(*rows: tuple, columns: tuple[str, ...] = ("name", "value")) -> Answer:
    return Answer("x", "select 1", columns, rows)


def read(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode(), newline="")))


def test_numbers_come_back_exactly_and_negative_ones_are_not_guarded():
    content, guarded = to_csv(answer(("a", -0.1), ("b", 1 / 3), ("c", Decimal("-0.025")), ("d", -7)))
    assert [float(row[1]) for row in read(content)[1:]] == [-0.1, 1 / 3, -0.025, -7.0]
    assert guarded == 0


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_text_that_a_spreadsheet_would_run_gets_an_apostrophe_and_is_counted(start: str):
    content, guarded = to_csv(answer((f"{start}SUM(A1)", 1), ("harmless", 2)))
    assert read(content)[1][0] == f"'{start}SUM(A1)"
    assert read(content)[2][0] == "harmless"
    assert guarded == 1


def test_a_heading_that_a_spreadsheet_would_run_is_guarded():
    content, _ = to_csv(answer((1,), columns=("=1+1",)))
    assert read(content)[0] == ["'=1+1"]


def test_quotes_commas_and_line_ends_survive():
    value = 'a "quoted", text\nover two lines — 中文 العربية'
    assert read(to_csv(answer((value, 1)))[0])[1][0] == value


def test_missing_values_are_empty_cells():
    assert read(to_csv(answer((None, float("nan"))))[0])[1] == ["", ""]
