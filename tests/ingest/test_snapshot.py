from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.archive import Selection, build_snapshot
from ingest.archive.schemas import ARCHIVE_SCHEMAS, TABLES_BY_LANGUAGE
from tests.ingest.archives import ArchiveBuilder, Load, Loaded, answer, extraction, load_into, session, turn

PROVENANCE = ("part", "file", "line")


def sample_lines(sample: Path, name: str) -> list[bytes]:
    return (sample / name).read_bytes().splitlines(keepends=True)


def without_provenance(rows: list[dict]) -> list[dict]:
    return [{name: value for name, value in row.items() if name not in PROVENANCE} for row in rows]


def rows_of(loaded: Loaded, table: str) -> list[dict]:
    return loaded.by_language(table) if table in TABLES_BY_LANGUAGE else loaded.rows(table)


def files(directory: Path) -> dict[str, bytes]:
    return {str(p.relative_to(directory)): p.read_bytes() for p in directory.rglob("*") if p.is_file()}


def details(rows: list[dict], reason: str) -> list[str]:
    return [row["detail"] for row in rows if row["reason"] == reason]


def test_the_sample_is_kept_whole(loaded_sample: Loaded, sample: Path) -> None:
    assert loaded_sample.report.n_rejects == loaded_sample.report.n_integrity == 0
    assert loaded_sample.report.notes == ()
    turns = {(row["session_id"], row["turn_index"]): row for row in loaded_sample.by_language("turns")}
    delivered = [json.loads(line) for line in (sample / "turns.jsonl").read_bytes().split(b"\n") if line]
    assert len(turns) == len(delivered) == 960
    assert all(turns[record["session_id"], record["turn_index"]]["text"] == record["text"] for record in delivered)
    answers = {(row["session_id"], row["turn_index"]): row for row in loaded_sample.by_language("extractions")}
    for line in (sample / "extractions.jsonl").read_bytes().split(b"\n"):
        if line:
            record = json.loads(line)
            assert answers[record["session_id"], record["turn_index"]]["raw_response"] == record["raw_response"]


def test_duckdb_reads_the_language_from_the_directory_and_the_columns_of_an_empty_one(
    archive: ArchiveBuilder, load: Load
) -> None:
    archive.add_session("S1", language="zh")
    directory = load(archive).directory
    found = duckdb.sql(
        f"select language, count(*) from read_parquet('{directory}/turns/*/*.parquet', hive_partitioning = true) "
        "group by language"
    ).fetchall()
    assert found == [("zh", 8)]
    names = duckdb.sql(f"select * from read_parquet('{directory}/turns/language=en/*.parquet')").columns
    assert set(ARCHIVE_SCHEMAS["turns"].names) <= set(names)


def test_the_same_archive_gives_the_same_bytes(load: Load, sample: Path, loaded_sample: Loaded) -> None:
    assert files(load(sample).directory) == files(loaded_sample.directory)


def test_the_sample_in_two_parts_is_the_sample_but_for_provenance(
    tmp_path: Path, load: Load, sample: Path, loaded_sample: Loaded
) -> None:
    for name in ("motions", "sessions", "turns", "extractions", "judgments"):
        lines = sample_lines(sample, f"{name}.jsonl")
        for part, chosen in (("b", lines[::2]), ("a", lines[1::2] + lines[:4])):
            (tmp_path / "split" / part).mkdir(parents=True, exist_ok=True)
            (tmp_path / "split" / part / f"{name}.jsonl").write_bytes(b"".join(chosen))
    (tmp_path / "split" / "a" / "annotations.csv").write_bytes((sample / "annotations.csv").read_bytes())
    split = load(tmp_path / "split")
    assert split.report.parts == ("a", "b")
    assert split.report.tables["turns"].duplicate == 4
    for table in ARCHIVE_SCHEMAS:
        assert without_provenance(rows_of(split, table)) == without_provenance(rows_of(loaded_sample, table))


def test_the_order_in_which_parts_are_named_changes_nothing(tmp_path: Path, archive: ArchiveBuilder) -> None:
    archive.add_session("S1")
    for name in ("a", "b"):
        archive.write(tmp_path / "archive" / name)
    load_into(tmp_path / "archive", tmp_path)
    build_snapshot([tmp_path / "parts" / "b", tmp_path / "parts" / "a"], tmp_path / "reversed")
    assert files(tmp_path / "reversed") == files(tmp_path / "snapshot")


def test_rows_are_in_order_of_motion_language_condition_repeat_session_turn_extractor(
    archive: ArchiveBuilder, load: Load
) -> None:
    archive.add_session("z", motion_id="M1", condition="diversity")
    archive.add_session("y", motion_id="M1", repeat=10)
    archive.add_session("x", motion_id="M1", repeat=9)
    archive.add_session("w", motion_id="M0")
    archive.add_session("v", motion_id="M1", language="ar")
    archive.add("extractions", extraction("w", 1, "a"), extraction("w", 2, "a"))
    loaded = load(archive)
    assert [row["session_id"] for row in loaded.rows("sessions")] == ["w", "v", "x", "y", "z"]
    turns = pq.read_table(loaded.directory / "turns" / "language=en" / "turns.parquet").to_pylist()
    assert [(row["session_id"], row["turn_index"]) for row in turns] == [
        (session_id, index) for session_id in "wxyz" for index in range(1, 9)
    ]
    answers = loaded.by_language("extractions")
    assert [(row["turn_index"], row["extractor"]) for row in answers if row["session_id"] == "w"][:4] == [
        (1, "a"),
        (1, "x"),
        (2, "a"),
        (2, "x"),
    ]


def test_identical_copies_are_counted_once_and_the_first_is_kept(archive: ArchiveBuilder, load: Load) -> None:
    archive.add_session("S1")
    archive.add("turns", turn("S1", 3), dict(reversed(turn("S1", 3).items())))
    loaded = load(archive)
    counts = loaded.report.tables["turns"]
    assert (counts.read, counts.kept, counts.duplicate, counts.rejected) == (10, 8, 2, 0)
    assert [row["line"] for row in loaded.by_language("turns") if row["turn_index"] == 3] == [3]
    assert loaded.report.n_integrity == 0


def test_two_different_turns_with_one_key_are_both_rejected_and_their_extraction_says_why(
    archive: ArchiveBuilder, load: Load
) -> None:
    archive.add_session("S1")
    archive.add("turns", turn("S1", 3, text="Something else."), turn("S1", 3))
    loaded = load(archive)
    assert loaded.report.tables["turns"].kept == 7
    rejects = loaded.rejects()
    conflicts = [row for row in rejects if row["reason"] == "conflicting_duplicate"]
    assert [(row["record_id"], row["line"]) for row in conflicts] == [("S1/3", 3), ("S1/3", 9), ("S1/3", 10)]
    assert json.loads(conflicts[1]["raw_line"])["text"] == "Something else."
    assert "line 3 of part archive; turns.jsonl line 9 of part archive" in conflicts[0]["detail"]
    (orphan,) = [row for row in rejects if row["table_name"] == "extractions"]
    assert orphan["reason"] == "turn_rejected"
    assert "conflicting_duplicate, turns.jsonl line 3 of part archive" in orphan["detail"]
    (finding,) = loaded.rows("integrity")
    assert (finding["rule"], finding["session_id"]) == ("missing_turns", "S1")
    assert "has 7 of 8 turns; turn 3 is missing. The rejects say why turn 3 cannot be used." in finding["detail"]


def test_a_rejected_session_takes_its_turns_with_it_and_they_name_the_cause(
    archive: ArchiveBuilder, load: Load
) -> None:
    archive.add_session("S1", language="xx")
    archive.add_session("S2", repeat="one")
    archive.add_session("S3")
    loaded = load(archive)
    assert loaded.report.tables["sessions"].kept == 1
    assert loaded.reasons() == {
        ("sessions", "unknown_language"),
        ("sessions", "wrong_type"),
        ("turns", "session_rejected"),
        ("extractions", "session_rejected"),
    }
    causes = details(loaded.rejects(), "session_rejected")
    assert len(causes) == 32
    assert sum("S1 is rejected (unknown_language, sessions.jsonl line 1 of part" in cause for cause in causes) == 16
    assert sum("S2 is rejected (wrong_type, sessions.jsonl line 2 of part" in cause for cause in causes) == 16


def test_a_turn_rejected_while_reading_is_the_named_cause_of_its_extraction_s_reject(
    archive: ArchiveBuilder, load: Load
) -> None:
    archive.add_session("S1", turns=range(1, 8))
    archive.add("turns", turn("S1", 8, text=8))
    archive.add("extractions", extraction("S1", 8))
    loaded = load(archive)
    assert loaded.reasons() == {("turns", "wrong_type"), ("extractions", "turn_rejected")}
    assert "The rejects say why turn 8 cannot be used." in loaded.rows("integrity")[0]["detail"]


def test_turns_without_a_session_and_extractions_without_a_turn_are_rejected(
    archive: ArchiveBuilder, load: Load
) -> None:
    archive.add_session("S1")
    archive.add("turns", turn("S2", 1), turn("S1", 9))
    archive.add("extractions", extraction("S2", 1), extraction("S1", 9), extraction("S1", 10))
    assert load(archive).reasons() == {
        ("turns", "session_missing"),
        ("turns", "turn_index_outside_template"),
        ("extractions", "session_missing"),
        ("extractions", "turn_rejected"),
        ("extractions", "turn_missing"),
    }


def test_an_orphan_hints_at_rejects_without_an_id(archive: ArchiveBuilder, load: Load) -> None:
    archive.add_session("S1")
    archive.lines["sessions"] = [b'{"session_id": "S1", "motion_id": "M1", "la']
    loaded = load(archive)
    assert "1 reject(s) of the sessions files have no id" in details(loaded.rejects(), "session_missing")[0]
    assert loaded.report.integrity == {"no_records": 1}


def test_two_sessions_in_one_cell_are_findings_and_both_are_kept(archive: ArchiveBuilder, load: Load) -> None:
    archive.add_session("S1")
    archive.add_session("S2")
    archive.add_session("S3", repeat=2)
    archive.add_session("S4", repeat=None)
    loaded = load(archive)
    assert loaded.report.tables["sessions"].kept == 4
    assert [(row["rule"], row["session_id"]) for row in loaded.rows("integrity")] == [
        ("shared_cell", "S1"),
        ("shared_cell", "S2"),
    ]


def test_what_the_selection_leaves_out_is_counted_by_reason_and_not_judged(archive: ArchiveBuilder, load: Load) -> None:
    archive.add("motions", {"motion_id": "M1", "texts": {"en": "E", "zh": "Z", "xx": "D"}})
    archive.add_session("S1")
    archive.add_session("S2", language="zh")
    archive.add_session("S3", condition="diversity")
    archive.add_session("S4", motion_id="M2", turns=range(1, 5))
    archive.add("turns", turn("S2", 3, text="A conflict outside the study."))
    archive.add("extractions", extraction("S1", 1, "other"))
    loaded = load(
        archive,
        Selection(
            motions=frozenset({"M1"}),
            languages=frozenset({"en"}),
            conditions=frozenset({"baseline"}),
            extractors=frozenset({"x"}),
        ),
    )
    assert loaded.report.n_rejects == loaded.report.n_integrity == 0
    assert loaded.report.left_out == {
        "motions": {"language_not_listed": 1, "language_not_selected": 1},
        "sessions": {"condition_not_selected": 1, "language_not_selected": 1, "motion_not_selected": 1},
        "turns": {"condition_not_selected": 8, "language_not_selected": 9, "motion_not_selected": 4},
        "extractions": {
            "condition_not_selected": 8,
            "extractor_not_selected": 1,
            "language_not_selected": 8,
            "motion_not_selected": 4,
        },
    }
    assert [row["session_id"] for row in loaded.rows("sessions")] == ["S1"]
    assert loaded.report.sessions == {("en", "baseline"): 1}


def test_an_unknown_language_is_rejected_even_when_the_selection_would_leave_it_out(
    archive: ArchiveBuilder, load: Load
) -> None:
    archive.add_session("S1", language="xx")
    loaded = load(archive, Selection(languages=frozenset({"en"})))
    assert ("sessions", "unknown_language") in loaded.reasons()
    assert loaded.report.integrity == {"no_sessions": 1}


def test_annotations_and_judgments_must_point_at_something(archive: ArchiveBuilder, load: Load) -> None:
    archive.add_session("a/b")
    archive.add_session("S2", condition="diversity")
    judgment = {"instrument": "pair_judge", "judge": "j", "raw_response": "{}"}
    for argument_id in ("a/b/2/1", "a/b/9/1", "S9/2/1", "S2/2/1", "no slashes", "a/b/x/1"):
        archive.add("judgments", {**judgment, "argument_id": argument_id, "nearest_argument_id": "a/b/1/1"})
    archive.add("annotations", b"task,annotator,session_id,turn_index,quality", b"extraction,r1,a/b,2,5")
    archive.add("annotations", b"extraction,r1,a/b,12,5", b"extraction,r1,S2,2,5")
    loaded = load(archive, Selection(conditions=frozenset({"baseline"})))
    assert [row["argument_id"] for row in loaded.rows("judgments")] == ["a/b/2/1"]
    assert [row["turn_index"] for row in loaded.rows("annotations")] == [2]
    assert loaded.reasons() == {
        ("judgments", "turn_missing"),
        ("judgments", "session_missing"),
        ("judgments", "malformed_argument_id"),
        ("annotations", "turn_missing"),
    }
    assert loaded.report.left_out["judgments"] == {"condition_not_selected": 1}
    assert loaded.report.left_out["annotations"] == {"condition_not_selected": 1}


def test_what_forbids_nothing_is_noted(archive: ArchiveBuilder, load: Load) -> None:
    archive.add("motions", {"motion_id": "M1", "texts": {"en": "E"}})
    archive.add_session("S1", motion_id="M7")
    archive.lines["turns"][0] = json.dumps(turn("S1", 1, phase="closing")).encode()
    archive.lines["turns"][2] = json.dumps(turn("S1", 3, agent="d")).encode()
    del archive.lines["extractions"][5:]
    loaded = load(archive, Selection(languages=frozenset({"en", "zh"}), extractors=frozenset({"x"})))
    assert {note.code: note.count for note in loaded.report.notes} == {
        "motion_not_listed": 1,
        "turn_differs_from_template": 1,
        "agent_differs_from_role_mapping": 1,
        "turn_without_extraction": 3,
        "selected_but_absent": 1,
    }
    assert loaded.report.n_rejects == loaded.report.n_integrity == 0
    texts = {note.code: note.detail for note in loaded.report.notes}
    assert "S1/6" in texts["turn_without_extraction"]
    assert "language 'zh'" in texts["selected_but_absent"]


def test_motions_delivered_language_by_language_come_together(archive: ArchiveBuilder, load: Load) -> None:
    archive.add_session("S1")
    for texts in ({"en": "E"}, {"zh": "Z", "en": "E"}, {"zh": "another"}):
        archive.add("motions", {"motion_id": "M1", "texts": texts})
    loaded = load(archive)
    assert [(row["language"], row["motion_text"]) for row in loaded.rows("motions")] == [("en", "E")]
    counts = loaded.report.tables["motions"]
    assert (counts.read, counts.kept, counts.duplicate, counts.rejected) == (4, 1, 1, 2)


def test_the_raw_line_of_a_long_reject_is_cut_and_says_so(archive: ArchiveBuilder, load: Load) -> None:
    archive.add("turns", turn("S9", 1, text="x" * 100_000))
    (reject,) = load(archive).rejects()
    assert len(reject["raw_line"]) == 65_536
    assert reject["detail"].endswith("raw_line holds its first 65,536 bytes.")


SESSIONS = {"S1": "en", "S2": "zh", "S3": "xx"}
TURN_LINES = st.lists(
    st.one_of(
        st.builds(
            lambda session_id, index, text: json.dumps({"session_id": session_id, "turn_index": index, "text": text}),
            st.sampled_from(["S1", "S2", "S3", "gone"]),
            st.integers(1, 9),
            st.sampled_from(["a", "b"]),
        ),
        st.sampled_from(["{", "[]", '{"session_id": "S1", "turn_index": "1", "text": "a"}', ""]),
    ),
    max_size=25,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(TURN_LINES, min_size=1, max_size=3), st.sampled_from([None, frozenset({"en"})]))
def test_every_turn_line_has_exactly_one_fate_and_the_kept_ones_follow_from_the_rules(parts, languages) -> None:
    with tempfile.TemporaryDirectory() as work:
        for number, lines in enumerate(parts):
            directory = Path(work) / "archive" / f"part{number}"
            directory.mkdir(parents=True)
            (directory / "turns.jsonl").write_text("\n".join(lines))
            (directory / "sessions.jsonl").write_text(
                "".join(json.dumps(session(s, language=language)) + "\n" for s, language in SESSIONS.items())
            )
        loaded = load_into(Path(work) / "archive", Path(work), Selection(languages=languages))
        contents = defaultdict(set)
        for line in [line for lines in parts for line in lines]:
            if line.startswith('{"') and '"turn_index": "' not in line:
                record = json.loads(line)
                contents[record["session_id"], record["turn_index"]].add(record["text"])
        expected = {
            key: texts
            for key, texts in contents.items()
            if key[0] in ("S1", "S2") and (languages is None or SESSIONS[key[0]] in languages)
            if key[1] <= 8 and len(texts) == 1
        }
        kept = {(row["session_id"], row["turn_index"]): {row["text"]} for row in loaded.by_language("turns")}
        assert kept == expected
        assert loaded.report.tables["turns"].kept == len(kept)
        assert loaded.report.tables["turns"].read == sum(bool(line) for lines in parts for line in lines)


@pytest.mark.parametrize("claims", [(), ("one", "two")])
def test_the_answer_is_stored_untouched(archive: ArchiveBuilder, load: Load, claims) -> None:
    archive.add_session("S1")
    raw = "\ufeff  ```json\r\n" + answer(*claims) + "\u2028```\n\n"
    archive.lines["extractions"][0] = json.dumps(extraction("S1", 1, raw_response=raw)).encode()
    (row,) = [row for row in load(archive).by_language("extractions") if row["turn_index"] == 1]
    assert row["raw_response"] == raw
