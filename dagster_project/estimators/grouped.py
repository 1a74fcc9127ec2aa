"""Tables taken apart by columns, in an order that does not depend on how their rows lie."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

Rows = Mapping[str, list[Any]]
"""A few rows as columns of Python values."""


def groups(table: pa.Table | Rows, keys: Sequence[str]) -> Iterator[tuple[dict[str, Any], Rows]]:
    """The rows of each combination of ``keys``, with that combination; combinations sorted, NULL last."""
    columns = table.to_pydict() if isinstance(table, pa.Table) else table
    places: dict[tuple[Any, ...], list[int]] = {}
    for row, key in enumerate(zip(*(columns[name] for name in keys), strict=True)):
        places.setdefault(key, []).append(row)
    for key in sorted(places, key=lambda key: [(part is None, part if part is not None else "") for part in key]):
        rows = {name: [values[row] for row in places[key]] for name, values in columns.items()}
        yield dict(zip(keys, key, strict=True)), rows


def pooled_and_by(rows: Rows, key: str) -> Iterator[tuple[Any, Rows]]:
    """All rows under None, then the rows of each value of ``key``."""
    yield None, rows
    for named, part in groups(rows, [key]):
        yield named[key], part
