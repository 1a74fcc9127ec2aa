"""Writing Parquet with bytes that depend on the rows alone, in bounded memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

ROWS_PER_GROUP = 10_000
BYTES_PER_GROUP = 32 * 1024 * 1024


class RowWriter:
    """Writes rows (mappings by column name; an absent column is NULL) to one Parquet file, group by group.

    The file exists with its schema even when no row is added.
    """

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._schema = schema
        self._writer = pq.ParquetWriter(path, schema, compression="zstd")
        self._rows: list[Mapping[str, Any]] = []
        self._bytes = 0

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._flush()
        self._writer.close()

    def add(self, row: Mapping[str, Any], size: int = 0) -> None:
        """Adds one row; `size` is about how many bytes it holds in memory, so that long texts flush sooner."""
        self._rows.append(row)
        self._bytes += size
        if len(self._rows) >= ROWS_PER_GROUP or self._bytes >= BYTES_PER_GROUP:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            self._writer.write_table(pa.Table.from_pylist(self._rows, schema=self._schema))
        self._rows = []
        self._bytes = 0


def write_table(path: Path, table: pa.Table) -> None:
    """Writes a whole table in row groups of `ROWS_PER_GROUP`."""
    pq.write_table(table, path, compression="zstd", row_group_size=ROWS_PER_GROUP)
