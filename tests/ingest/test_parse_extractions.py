from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq

from ingest.parse import ParseReport, parse_extractions
from ingest.parse.schemas import ARGUMENTS_SCHEMA, EXTRACTION_PARSES_SCHEMA
from tests.ingest.archives import ArchiveBuilder, Load, Loaded, answer, extraction


def parsed(directory: Path, dest: Path) -> tuple[ParseReport, list[dict], list[dict]]:
    report = parse_extractions(directory, dest)
    arguments, parses = (pq.read_table(dest / f"{name}.parquet") for name in ("arguments", "extraction_parses"))
    assert arguments.schema.equals(ARGUMENTS_SCHEMA)
    assert parses.schema.equals(EXTRACTION_PARSES_SCHEMA)
    return report, arguments.to_pylist(), parses.to_pylist()


def test_the_units_of_the_sample_are_those_of_a_plain_parse(
    loaded_sample: Loaded, sample: Path, tmp_path: Path
) -> None:
    report, arguments, parses = parsed(loaded_sample.directory, tmp_path)
    expected = {}
    for line in (sample / "extractions.jsonl").read_bytes().split(b"\n"):
        if line:
            record = json.loads(line)
            for index, unit in enumerate(json.loads(record["raw_response"])["arguments"], start=1):
                expected[f"{record['session_id']}/{record['turn_index']}/{index}"] = unit
    assert {row["argument_id"] for row in arguments} == set(expected)
    assert len(arguments) == len(expected) == report.n_arguments == report.arguments["sample-extractor"]
    for row in arguments:
        unit = expected[row["argument_id"]]
        assert (row["claim"], row["warrant"], row["evidence_or_example"], row["argument_type_raw"]) == (
            unit["claim"],
            unit["warrant"],
            unit["evidence_or_example"],
            unit["argument_type"],
        )
    assert (report.n_extractions, report.n_parsed, report.n_failed) == (len(parses), 960, 0)


def test_kept_units_are_numbered_from_1_and_extractors_apart(
    archive: ArchiveBuilder, load: Load, tmp_path: Path
) -> None:
    archive.add_session("a/../b", turns=range(1, 2), language="zh")
    archive.lines["extractions"] = []
    archive.add("extractions", extraction("a/../b", 1, "x", raw_response=answer(" ", "一", "", "二")))
    archive.add("extractions", extraction("a/../b", 1, "y", raw_response=answer("三")))
    report, arguments, parses = parsed(load(archive).directory, tmp_path)
    assert [(row["extractor"], row["argument_id"], row["claim"], row["language"]) for row in arguments] == [
        ("x", "a/../b/1/1", "一", "zh"),
        ("x", "a/../b/1/2", "二", "zh"),
        ("y", "a/../b/1/1", "三", "zh"),
    ]
    assert [(row["n_arguments"], row["n_blank_claims"], row["labels"]) for row in parses] == [
        (2, 2, ["blank_claim"]),
        (1, 0, []),
    ]
    assert (report.n_blank_claims, report.labels, report.arguments) == (2, {"blank_claim": 1}, {"x": 2, "y": 1})


def test_a_failure_is_a_row_with_its_reason_and_its_raw_answer(
    archive: ArchiveBuilder, load: Load, tmp_path: Path
) -> None:
    archive.add_session("S1", turns=range(1, 4))
    raws = ["I'm sorry.", "", answer("", " ")]
    archive.lines["extractions"] = []
    for index, raw in enumerate(raws, start=1):
        archive.add("extractions", extraction("S1", index, raw_response=raw, finish_reason="length"))
    report, arguments, parses = parsed(load(archive).directory, tmp_path)
    assert arguments == []
    assert [row["raw_response"] for row in parses] == raws
    assert [(row["parsed"], row["reason"], row["n_blank_claims"]) for row in parses] == [
        (False, "not_json", 0),
        (False, "empty", 0),
        (False, "no_arguments", 2),
    ]
    assert {row["finish_reason"] for row in parses} == {"length"}
    assert report.reasons == {"empty": 1, "no_arguments": 1, "not_json": 1}


def test_fields_beyond_the_schema_are_stored_as_json(archive: ArchiveBuilder, load: Load, tmp_path: Path) -> None:
    archive.add_session("S1", turns=range(1, 2))
    raw = '{"arguments": [{"claim": "A", "score": 1}], "note": "界"}'
    archive.lines["extractions"] = [json.dumps(extraction("S1", 1, raw_response=raw)).encode()]
    _, (argument,), (parse,) = parsed(load(archive).directory, tmp_path)
    assert argument["extra"] == '{"score": 1}'
    assert parse["extra"] == '{"note": "界"}'


def test_an_empty_snapshot_gives_empty_tables(archive: ArchiveBuilder, load: Load, tmp_path: Path) -> None:
    archive.add("sessions", b"not json")
    report, arguments, parses = parsed(load(archive).directory, tmp_path)
    assert arguments == parses == []
    assert report.n_extractions == 0


def test_parsing_twice_gives_the_same_bytes_and_progress_reaches_the_total(
    loaded_sample: Loaded, tmp_path: Path
) -> None:
    calls: list[tuple[int, int]] = []
    parse_extractions(loaded_sample.directory, tmp_path / "a", lambda done, total: calls.append((done, total)))
    parse_extractions(loaded_sample.directory, tmp_path / "b")
    for name in ("arguments.parquet", "extraction_parses.parquet"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert calls == sorted(calls)
    assert calls[-1] == (960, 960)
