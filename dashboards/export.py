"""Numbers out of a page: CSV bytes that hold what the query returned."""

import csv
import io
import math
from decimal import Decimal

from dashboards.warehouse import Answer

# A spreadsheet runs a cell that begins with one of these as a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def to_csv(answer: Answer) -> tuple[bytes, int]:
    """`answer` as UTF-8 CSV (RFC 4180) with a header, and the number of text cells that were guarded.

    Models wrote much of the text, and a spreadsheet would run a claim that begins like a formula. Such a cell gets an
    apostrophe in front; the page says how many did. Numbers, negative ones too, are left as they are, so that a
    script reads the file back unchanged unless the page says otherwise. NULL and not-a-number are empty cells.
    """
    guarded = 0
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow([_guard(name) for name in answer.columns])
    for row in answer.rows:
        cells = [_cell(value) for value in row]
        safe = [
            cell if isinstance(value, int | float | Decimal) else _guard(cell)
            for cell, value in zip(cells, row, strict=True)
        ]
        guarded += sum(cell != kept for cell, kept in zip(safe, cells, strict=True))
        writer.writerow(safe)
    return buffer.getvalue().encode(), guarded


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else str(value)


def _guard(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA_STARTS) else cell
