"""What transcripts from elsewhere come with: told, counted, and neither dropped nor guessed away."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import pytest

from ingest.importers import MappingError
from tests.ingest.archives import load_into
from tests.ingest.importers.imported import FLAT, Import, debate, write

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"


def test_a_byte_order_mark_and_crlf_are_no_part_of_the_text(imported: Import, tmp_path: Path) -> None:
    source = write(tmp_path / "s", a__csv=b"\xef\xbb\xbfid,text\r\nd,One.\r\nd,Two.\r\n")
    rows = {"format": "csv", "debates": {"group_by": "id"}, "turns": {"each": "@", "text": "text"}}
    assert imported(rows, source).spoken("d") == [(1, None, "One."), (2, None, "Two.")]


@pytest.mark.parametrize("missing", [-1, "-1", "", None])
def test_a_missing_speech_keeps_its_number_and_its_debate_is_partial(
    missing: object, imported: Import, tmp_path: Path
) -> None:
    done = imported(FLAT, write(tmp_path / "s", a__json=debate("One.", missing, "Three.")))
    assert [index for index, _, _ in done.spoken("d")] == [1, 3]
    assert done.records("sessions")[0]["status"] == "partial"
    assert done.report.findings["speech_missing"] == 1


def test_a_turn_of_white_space_is_kept_and_counted(imported: Import, tmp_path: Path) -> None:
    done = imported(FLAT, write(tmp_path / "s", a__json=debate("One.", " \n", "Three.")))
    assert [text for _, _, text in done.spoken("d")] == ["One.", " \n", "Three."]
    assert done.report.findings["turn_empty"] == 1
    assert done.records("sessions")[0]["status"] == "complete"


@pytest.mark.parametrize(
    ("text", "kept", "reasoning"),
    [
        ("<think>why</think> So.", "So.", "why"),
        ("A. <Reasoning>x\ny</Reasoning> B.", "A.  B.", "x\ny"),
        ("<think></think>So.", "So.", ""),
    ],
)
def test_a_reasoning_block_is_set_aside(text: str, kept: str, reasoning: str, imported: Import, tmp_path: Path) -> None:
    done = imported(FLAT, write(tmp_path / "s", a__json=debate(text)))
    [turn] = done.records("turns")
    assert (turn["text"], turn["reasoning"]) == (kept, reasoning)
    assert done.report.findings["reasoning_set_aside"] == 1


@pytest.mark.parametrize("text", ["<think>why. So.", "why</think>So.", "<think>a<think>b</think>c</think>d"])
def test_reasoning_without_a_clear_end_stays_and_is_told(text: str, imported: Import, tmp_path: Path) -> None:
    done = imported(FLAT, write(tmp_path / "s", a__json=debate(text)))
    assert done.records("turns")[0]["text"] == text
    assert done.report.findings["reasoning_unclosed"] == 1


def test_reasoning_blocks_stay_when_the_mapping_keeps_them(imported: Import, tmp_path: Path) -> None:
    source = write(tmp_path / "s", a__json=debate("<think>why</think>So."))
    assert imported(FLAT | {"reasoning_blocks": "keep"}, source).records("turns")[0]["text"] == "<think>why</think>So."


def test_mojibake_is_told_and_left_as_it_is(imported: Import, tmp_path: Path) -> None:
    garbled = "La sociÃ©tÃ© nâ€™a pas dÃ©cidÃ©."
    done = imported(FLAT, write(tmp_path / "s", a__json=debate(garbled, "La société n’a pas décidé. Ça va — «bien».")))
    assert done.spoken("d")[0][2] == garbled
    assert [finding["place"] for finding in done.found("mojibake")] == ["d, turn 1"]


def test_verbatim_repeated_turns_are_kept_counted_and_shown(imported: Import, tmp_path: Path) -> None:
    done = imported(FLAT, write(tmp_path / "s", a__json=debate("Same.", "Other.", "Same. ", "Same.", " ", " ")))
    assert len(done.spoken("d")) == 6
    assert [turn.get("repeats_turn") for turn in done.records("turns")] == [None, None, 1, 1, None, None]
    assert done.report.findings["turn_repeated"] == 2


def test_characters_that_cannot_be_stored_are_replaced_and_told(
    imported: Import, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    source = write(
        tmp_path / "s", a__json=b'{"id": "d\\u0000", "language": "en", "turns": [{"text": "a\\ud800b\\u0000"}]}'
    )
    done = imported(FLAT, source)
    assert [turn["text"] for turn in done.records("turns")] == ["a\ufffdb\ufffd"]
    assert done.report.findings["character_replaced"] == 1
    assert load_into(done.folder, tmp_path_factory.mktemp("loaded"), protocol="free").rejects() == []


def test_a_line_separator_inside_a_string_does_not_end_the_line(imported: Import, tmp_path: Path) -> None:
    lines = "\n".join(json.dumps({"id": "d", "text": f"{n}\u2028\u0085."}, ensure_ascii=False) for n in (1, 2))
    rows = {"format": "jsonl", "debates": {"group_by": "id"}, "turns": {"each": "@", "text": "text"}}
    done = imported(rows, write(tmp_path / "s", a__jsonl=lines))
    assert [text for _, _, text in done.spoken("d")] == ["1\u2028\u0085.", "2\u2028\u0085."]


def test_a_text_in_several_scripts_is_told(imported: Import, tmp_path: Path) -> None:
    texts = ("We need 自由と平等 now.", "ひらがなと漢字とカタカナ。")
    done = imported(FLAT, write(tmp_path / "s", a__json=debate(*texts)))
    assert [(finding["place"], finding["detail"]) for finding in done.found("several_scripts")] == [
        ("d, turn 1", "It is written in LATIN and CJK.")
    ]


def test_file_names_may_hold_colons_quotes_and_any_script(imported: Import, tmp_path: Path) -> None:
    source = tmp_path / "s"
    write(source, **{"a: “b”: ＂c＂ 討論__json": {"language": "en", "turns": [{"text": "One."}]}})
    assert imported(FLAT, source).records("sessions")[0]["session_id"] == "a: “b”: ＂c＂ 討論"


def test_a_large_file_pointer_is_named_with_its_remedy(imported: Import, tmp_path: Path) -> None:
    source = write(tmp_path / "s", a__json=debate("One."), b__zip=POINTER, c__json=POINTER)
    done = imported(FLAT, source)
    assert done.report.debates == 1
    assert [finding["file"] for finding in done.found("file_unreadable")] == ["b.zip", "c.json"]
    assert all("git lfs pull" in finding["detail"] for finding in done.found("file_unreadable"))


def test_a_source_of_pointers_alone_says_what_they_are(imported: Import, tmp_path: Path) -> None:
    with pytest.raises(MappingError, match="git lfs pull"):
        imported(FLAT, write(tmp_path / "s", data__zip=POINTER))


def test_zips_and_gzips_are_read_like_folders_and_files(imported: Import, tmp_path: Path) -> None:
    source = write(tmp_path / "s", b__json__gz=gzip.compress(json.dumps(debate("Two.", id="b")).encode()))
    with zipfile.ZipFile(source / "a.zip", "w") as archive:
        archive.writestr("inner/a.json", json.dumps(debate("One.", id="a")))
    done = imported(FLAT, source)
    assert [(s["session_id"], s["source"]) for s in done.records("sessions")] == [
        ("a", "a.zip/inner/a.json"),
        ("b", "b.json.gz"),
    ]


def test_a_damaged_file_is_left_out_and_the_others_are_read(imported: Import, tmp_path: Path) -> None:
    whole = gzip.compress(json.dumps(debate("One." * 500, id="g")).encode())
    source = write(
        tmp_path / "s", a__json=b"{oops", b__json=b'{"id": "\xff"}', c__json__gz=whole[:-20], d__json=debate("One.")
    )
    done = imported(FLAT, source)
    assert done.report.debates == 1
    assert {finding["file"] for finding in done.found("file_unreadable")} == {"a.json", "b.json", "c.json.gz"}


def test_a_row_with_cells_too_many_is_told_with_its_line(imported: Import, tmp_path: Path) -> None:
    source = write(tmp_path / "s", a__csv="id,text\nd,One.\nd,Two, and more.\nd,Three.\n")
    rows = {"format": "csv", "debates": {"group_by": "id"}, "turns": {"each": "@", "text": "text"}}
    done = imported(rows, source)
    assert [text for _, _, text in done.spoken("d")] == ["One.", "Three."]
    assert [finding["place"] for finding in done.found("record_unreadable")] == ["line 3"]


def test_the_same_debate_twice_counts_once_and_another_of_its_id_gets_a_number(
    imported: Import, tmp_path: Path
) -> None:
    source = write(
        tmp_path / "s", a__json=debate("One."), b__json=debate("One."), c__json=debate("Two."), d__json=debate("Three.")
    )
    done = imported(FLAT, source)
    assert [session["session_id"] for session in done.records("sessions")] == ["d", "d~2", "d~3"]
    assert (done.report.findings["debate_repeated"], done.report.findings["debate_renumbered"]) == (1, 2)


def test_thousands_of_files_are_read_one_at_a_time(imported: Import, tmp_path: Path) -> None:
    source = tmp_path / "s"
    source.mkdir()
    for number in range(5000):
        (source / f"{number:04}.json").write_text(json.dumps(debate("One.", id=str(number))), encoding="utf-8")
    calls: list[tuple[int, int]] = []
    done = imported(FLAT, source, progress=lambda *counts: calls.append(counts))
    assert done.report.debates == 5000
    assert calls[-1] == (5000, 5000)
