"""Motions, languages, claims and units of imported debates, and the dry run."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.extract import split_sentences
from ingest.importers import Mapping, MappingError, preview_debates
from ingest.importers.placing import Placer
from tests.ingest.importers.imported import FLAT, Import, debate, write

CLAIMED = FLAT | {"claims": {"each": "claims", "claim": "@"}}


def test_claims_are_placed_by_exact_then_by_normalised_text_and_the_rest_is_listed(
    imported: Import, tmp_path: Path
) -> None:
    claims = ["Cars kill", "cars  “KILL” people", "ＢＵＳＥＳ are late", "Nobody said this", " "]
    source = write(tmp_path / "s", a__json=debate("Cars kill people.", "Buses are late.", claims=claims))
    done = imported(CLAIMED, source)
    assert done.claims("d") == {1: ["Cars kill", "cars  “KILL” people"], 2: ["ＢＵＳＥＳ are late"]}
    assert done.report.claims == {"exact": 1, "normalised": 2, "unplaced": 1}
    assert done.report.share_placed == 0.75
    assert [record["claim"] for record in done.records("import/unplaced_claims")] == ["Nobody said this"]
    assert (done.report.findings["claim_unplaced"], done.report.findings["claim_blank"]) == (1, 1)


def test_a_claim_of_a_repeated_speech_goes_to_each_of_its_turns_in_order(imported: Import, tmp_path: Path) -> None:
    source = write(tmp_path / "s", a__json=debate("Cars kill.", "No.", "Cars kill.", claims=["Cars kill"] * 3))
    assert imported(CLAIMED, source).claims("d") == {1: ["Cars kill"], 2: [], 3: ["Cars kill", "Cars kill"]}


def test_a_claim_of_an_agent_is_looked_for_in_that_agents_turns(imported: Import, tmp_path: Path) -> None:
    mapping = FLAT | {"claims": {"each": "claims", "claim": "text", "agent": "by"}}
    claims = [{"text": "Cars kill", "by": "b"}, {"text": "Cars kill", "by": "nobody"}]
    done = imported(mapping, write(tmp_path / "s", a__json=debate("Cars kill.", "Cars kill?", claims=claims)))
    assert done.claims("d") == {1: [], 2: ["Cars kill"]}
    assert done.records("import/unplaced_claims")[0]["agent"] == "nobody"


def test_a_claim_that_names_its_turn_goes_there_whatever_the_text_says(imported: Import, tmp_path: Path) -> None:
    mapping = FLAT | {"claims": {"each": "claims", "claim": "text", "turn": "turn"}}
    claims = [{"text": "One", "turn": 2}, {"text": "x", "turn": 9}]
    done = imported(mapping, write(tmp_path / "s", a__json=debate("One.", "Two.", claims=claims)))
    assert done.claims("d") == {1: [], 2: ["One"]}
    assert done.report.claims == {"in_turn": 1, "unplaced": 1}
    assert done.report.findings["claim_turn_unknown"] == 1


@given(texts=st.lists(st.text("ab .", max_size=12), min_size=1, max_size=5), data=st.data())
def test_every_piece_of_a_text_is_placed_in_the_first_text_that_has_it(texts: list[str], data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(texts) - 1))
    start = data.draw(st.integers(0, len(texts[position])))
    claim = texts[position][start:].strip()
    first = min(i for i, text in enumerate(texts) if claim in text)
    assert Placer(texts).place(claim, range(len(texts))) == (first, "exact")


def test_without_claims_the_units_are_sentences(imported: Import, tmp_path: Path) -> None:
    done = imported(FLAT, write(tmp_path / "s", a__json=debate("Cars kill. Dr. No agrees!", "So?")))
    assert {record["extractor"] for record in done.records("extractions")} == {"sentences"}
    assert done.claims("d") == {1: split_sentences("Cars kill. Dr. No agrees!", "en"), 2: ["So?"]}
    assert done.report.sentences == 3


def test_claims_and_sentences_can_stand_beside_each_other(imported: Import, tmp_path: Path) -> None:
    source = write(tmp_path / "s", a__json=debate("Cars kill. True.", claims=["Cars kill"]))
    done = imported(CLAIMED | {"units": ["claims", "sentences"], "extractor": "annotators"}, source)
    units = {r["extractor"]: len(json.loads(r["raw_response"])["arguments"]) for r in done.records("extractions")}
    assert units == {"annotators": 1, "sentences": 2}


@pytest.mark.parametrize(
    ("said", "code"), [("EN", "en"), ("English", "en"), ("zh-Hans", "zh"), ("pt_BR", "pt"), ("Klingon", "und")]
)
def test_a_language_is_known_by_code_tag_or_name(said: str, code: str, imported: Import, tmp_path: Path) -> None:
    done = imported(FLAT, write(tmp_path / "s", a__json=debate("One.", language=said)))
    assert done.records("sessions")[0]["language"] == code
    assert done.report.findings.get("language_unknown", 0) == (code == "und")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Diese Kammer würde den Verkehr in den Städten verbieten, weil er schadet.", "de"),
        ("本院认为城市应当禁止私家车，因为它们造成污染。", "zh"),
        ("Эта палата запретила бы автомобили в городах.", "ru"),
        ("12 34 56", "und"),
    ],
)
def test_a_language_that_is_not_given_is_detected_and_told(
    text: str, code: str, imported: Import, tmp_path: Path
) -> None:
    done = imported(FLAT, write(tmp_path / "s", a__json=debate(text, language=None)))
    assert done.records("sessions")[0]["language"] == code
    assert done.report.findings["language_unknown" if code == "und" else "language_detected"] == 1


def test_a_crosswalk_gives_motions_of_several_languages_one_id(imported: Import, tmp_path: Path) -> None:
    source = write(
        tmp_path / "s",
        a__json=debate("One.", id="a", motion="Ban cars."),
        b__json=debate("Eins.", id="b", motion="Autos verbieten.", language="de"),
        c__json=debate("Two.", id="c", motion="Close zoos."),
        d__json=debate("Deux.", id="d", motion_id="17", motion="Interdire", language="fr"),
    )
    crosswalk = tmp_path / "crosswalk.csv"
    crosswalk.write_text("motion_id,language,source_motion\ncars,en,Ban cars.\ncars,de,Autos verbieten.\ncars,,17\n")
    done = imported(FLAT, source, crosswalk=crosswalk)
    motions = {session["session_id"]: session["motion_id"] for session in done.records("sessions")}
    assert motions["a"] == motions["b"] == motions["d"] == "cars" != motions["c"]
    assert {m["motion_id"]: sorted(m["texts"]) for m in done.records("motions")}["cars"] == ["de", "en", "fr"]
    assert [finding["place"] for finding in done.found("motion_not_in_crosswalk")] == ["c"]


def test_a_crosswalk_that_pairs_a_motion_twice_is_refused(imported: Import, tmp_path: Path) -> None:
    crosswalk = tmp_path / "crosswalk.csv"
    crosswalk.write_text("motion_id,source_motion\na,Ban cars.\nb,Ban cars.\n")
    with pytest.raises(MappingError, match=r"line 3, gives 'Ban cars\.' a second motion"):
        imported(FLAT, write(tmp_path / "s", a__json=debate("One.")), crosswalk=crosswalk)


def test_debates_without_a_motion_are_motions_of_their_own(imported: Import, tmp_path: Path) -> None:
    source = write(tmp_path / "s", a__json=debate("One.", id="a"), b__json=debate("Two.", id="b"))
    assert [session["motion_id"] for session in imported(FLAT, source).records("sessions")] == ["a", "b"]


def test_a_motion_with_a_second_text_is_told_and_both_debates_keep_theirs(imported: Import, tmp_path: Path) -> None:
    source = write(
        tmp_path / "s",
        a__json=debate("One.", id="a", motion_id="m", motion="X."),
        b__json=debate("Two.", id="b", motion_id="m", motion="Y."),
    )
    done = imported(FLAT, source)
    assert [session["motion_text"] for session in done.records("sessions")] == ["X.", "Y."]
    assert done.records("motions") == [{"motion_id": "m", "source": "test", "texts": {"en": "X."}}]
    assert done.report.findings["motion_text_differs"] == 1


def test_what_a_file_name_says_can_be_a_value(imported: Import, tmp_path: Path) -> None:
    mapping = FLAT | {
        "file_name": r"(?P<motion>[^/]+)_(?P<persona>expert|layman)\.json$",
        "debate": {
            "motion_id": {"path": "motion", "of": "file"},
            "condition": {"path": "folder", "of": "file", "map": {"g4": "gpt-4"}},
            "attributes": {"persona": {"path": "persona", "of": "file"}},
        },
    }
    source = write(tmp_path / "s" / "g4", zoos_expert__json=debate("One."), readme__json={})
    done = imported(mapping, source.parent)
    [session] = done.records("sessions")
    assert (session["motion_id"], session["condition"]) == ("zoos", "gpt-4")
    assert session["attributes"] == {"persona": "expert"}
    assert [finding["file"] for finding in done.found("file_not_matched")] == ["g4/readme.json"]


def test_parquet_rows_are_read_across_files(imported: Import, tmp_path: Path) -> None:
    source = tmp_path / "s"
    source.mkdir()
    for number, turns in enumerate([["a", "b"], ["c"]]):
        pq.write_table(pa.table({"id": ["d"] * len(turns), "text": turns}), source / f"{number}.parquet")
    rows = {"format": "parquet", "turns": {"each": "@", "text": "text"}}
    done = imported(rows | {"debates": {"group_by": "id", "across_files": True}}, source)
    assert [text for _, _, text in done.spoken("d")] == ["a", "b", "c"]


def test_an_import_of_the_same_source_is_the_same_to_the_byte(imported: Import, tmp_path: Path) -> None:
    source = write(tmp_path / "s", a__json=debate("One.", id="a"), b__json=debate("Two.", id="b"))
    first, second = imported(FLAT, source).folder, imported(FLAT, source).folder
    for file in sorted(path.relative_to(first) for path in first.rglob("*") if path.is_file()):
        assert (first / file).read_bytes() == (second / file).read_bytes(), file


def test_a_dry_run_shows_the_first_debates_and_writes_nothing(tmp_path: Path) -> None:
    source = write(
        tmp_path / "s", **{f"{name}__json": debate(f"I am {name}.", id=name, motion="Ban cars.") for name in "abcd"}
    )
    before = sorted(tmp_path.rglob("*"))
    preview = preview_debates(Mapping.model_validate({"name": "flat", **FLAT}), source, 2)
    assert [shown.session_id for shown in preview.debates] == ["a", "b"]
    text = "\n".join(preview.lines())
    assert "Debate a" in text and "Ban cars." in text and "[a] I am a." in text and "a source with 4 files" in text
    assert sorted(tmp_path.rglob("*")) == before


def test_a_path_that_never_finds_anything_is_named(imported: Import, tmp_path: Path) -> None:
    mapping = FLAT | {"debate": FLAT["debate"] | {"condition": "conditon"}}
    done = imported(mapping, write(tmp_path / "s", a__json=debate("One.")))
    [finding] = done.found("path_never_found")
    assert finding["detail"] == "Nothing was found at 'conditon', 'motion', 'motion_id'."


def test_a_source_without_a_debate_is_refused_with_what_was_tried(imported: Import, tmp_path: Path) -> None:
    with pytest.raises(MappingError, match=r"No debate was found.*Nothing was found at 'id', .*'turns'"):
        imported(FLAT, write(tmp_path / "s", a__json={"messages": []}))


def test_one_debate_that_a_path_does_not_fit_does_not_stop_the_others(imported: Import, tmp_path: Path) -> None:
    done = imported(FLAT, write(tmp_path / "s", a__json=debate("One."), b__json={"turns": {"x": 1}}))
    assert done.report.debates == 1
    assert "'turns' gives an object where a list is needed" in done.found("debate_unreadable")[0]["detail"]
