from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ingest import parquet
from ingest.parquet import RowWriter

SCHEMA = pa.schema([pa.field("text", pa.string())])


def written(path: Path, sizes: list[int]) -> pq.ParquetFile:
    with RowWriter(path, SCHEMA) as writer:
        for size in sizes:
            writer.add({"text": "x"}, size)
    return pq.ParquetFile(path)


def test_rows_are_flushed_by_number_and_by_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "ROWS_PER_GROUP", 3)
    monkeypatch.setattr(parquet, "BYTES_PER_GROUP", 100)
    stored = written(tmp_path / "f.parquet", [1, 1, 1, 60, 60, 1])
    assert [stored.metadata.row_group(number).num_rows for number in range(stored.num_row_groups)] == [3, 2, 1]


def test_a_file_without_rows_has_its_schema(tmp_path: Path) -> None:
    assert written(tmp_path / "f.parquet", []).schema_arrow.equals(SCHEMA)


def test_an_absent_column_is_null(tmp_path: Path) -> None:
    with RowWriter(tmp_path / "f.parquet", SCHEMA) as writer:
        writer.add({})
    assert pq.read_table(tmp_path / "f.parquet").to_pylist() == [{"text": None}]
