from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ingest.archive import TableCounts, find_parts, lines, read_part
from ingest.archive.schemas import FILES_SCHEMA, PART_SCHEMAS, REJECTS_SCHEMA
from tests.ingest.archives import ArchiveBuilder, session, turn


def test_every_table_is_written_with_its_schema_even_without_a_file(tmp_path: Path, archive: ArchiveBuilder) -> None:
    archive.add("sessions", session("S1"))
    (part,) = find_parts(archive.write(tmp_path / "a"))
    read_part(part, tmp_path / "out")
    for table, schema in {**PART_SCHEMAS, "rejects": REJECTS_SCHEMA, "files": FILES_SCHEMA}.items():
        stored = pq.read_table(tmp_path / "out" / f"{table}.parquet")
        assert stored.schema.equals(schema)
        assert stored.num_rows == (1 if table in ("sessions", "files") else 0)


def test_rows_keep_their_values_their_place_and_their_raw_line(tmp_path: Path, archive: ArchiveBuilder) -> None:
    record = turn("S1", 3, usage={"input_tokens": 10**12}, created_at="2026-01-01T00:00:00+02:00")
    archive.add("turns", b"", record)
    (part,) = find_parts(archive.write(tmp_path / "a"))
    report = read_part(part, tmp_path / "out")
    (row,) = pq.read_table(tmp_path / "out" / "turns.parquet").to_pylist()
    assert {name: row[name] for name in ("session_id", "turn_index", "text", "phase", "created_at")} == {
        name: record[name] for name in ("session_id", "turn_index", "text", "phase", "created_at")
    }
    assert (row["part"], row["file"], row["line"], row["input_tokens"]) == ("a", "turns.jsonl", 2, 10**12)
    assert json.loads(row["raw_line"]) == record
    assert report.files[0].records == 1


def test_gzipped_and_plain_files_give_the_same_rows(tmp_path: Path, sample: Path) -> None:
    zipped = tmp_path / "sample"
    zipped.mkdir()
    for path in sample.glob("*.jsonl"):
        (zipped / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    (zipped / "annotations.csv").write_bytes((sample / "annotations.csv").read_bytes())
    for directory, archive in (("plain", sample), ("gz", zipped)):
        read_part(find_parts(archive)[0], tmp_path / directory)
    for table in PART_SCHEMAS:
        plain, gz = (pq.read_table(tmp_path / name / f"{table}.parquet") for name in ("plain", "gz"))
        assert plain.drop_columns("file").equals(gz.drop_columns("file"))


def test_a_record_equal_but_for_key_order_and_absent_nulls_has_the_same_hash(
    tmp_path: Path, archive: ArchiveBuilder
) -> None:
    record = session("S1")
    shuffled = dict(reversed(record.items())) | {"role_mapping": dict(reversed(record["role_mapping"].items()))}
    archive.add("sessions", record, {**shuffled, "started_at": None}, {**record, "repeat": 2}, {**record, "x": 1})
    (part,) = find_parts(archive.write(tmp_path / "a"))
    read_part(part, tmp_path / "out")
    hashes = pq.read_table(tmp_path / "out" / "sessions.parquet").column("content_hash").to_pylist()
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 3


def test_a_file_that_breaks_off_contributes_nothing_but_its_rejects(
    tmp_path: Path, archive: ArchiveBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "_CHUNK_BYTES", 100)
    archive.add("turns", b"not json", *(turn("S1", index, seed=index) for index in range(1, 9)))
    directory = archive.write(tmp_path / "a")
    raw = gzip.compress((directory / "turns.jsonl").read_bytes())
    (directory / "turns.jsonl").unlink()
    (directory / "turns.jsonl.gz").write_bytes(raw[:-9])
    report = read_part(find_parts(directory)[0], tmp_path / "out")
    assert pq.read_table(tmp_path / "out" / "turns.parquet").num_rows == 0
    assert report.tables["turns"] == TableCounts(read=2, rejected=2)
    assert report.unknown_fields == {}
    assert report.files[0].records is None
    first, last = pq.read_table(tmp_path / "out" / "rejects.parquet").to_pylist()
    assert (first["line"], first["reason"]) == (1, "not_json")
    assert (last["line"], last["reason"], last["record_id"], last["raw_line"]) == (None, "truncated_gzip", None, None)


def test_the_report_names_unknown_fields_and_files_it_did_not_read(tmp_path: Path, archive: ArchiveBuilder) -> None:
    archive.add("sessions", session("S1", seed=1), session("S2", seed=2, host="h"))
    directory = archive.write(tmp_path / "a")
    (directory / "turn.jsonl").write_bytes(b"{}\n")
    report = read_part(find_parts(directory)[0], tmp_path / "out")
    assert report.unknown_fields == {"sessions": {"host": 1, "seed": 2}}
    assert report.other_files == ("turn.jsonl",)


def test_progress_grows_to_the_total_of_bytes(tmp_path: Path, sample: Path) -> None:
    calls: list[tuple[int, int]] = []
    read_part(find_parts(sample)[0], tmp_path, lambda done, total: calls.append((done, total)))
    assert calls == sorted(calls)
    known = [sample / "annotations.csv", *sample.glob("*.jsonl")]
    assert calls[-1] == (sum(path.stat().st_size for path in known),) * 2
