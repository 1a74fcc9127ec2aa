"""A human audit from a published warehouse to annotations, with a made-up labelling in between."""

import csv
import json
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from dagster_project.audit import AuditError, draw_audit, import_labels
from dagster_project.cli import main
from ingest.label import LabelError, LabelStore

DRAW = {"encoder": "e", "languages": ["en", "zh"], "pairs_per_stratum": 2, "turns_per_language": 3, "seed": 5}


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    """Eight sessions in two languages and conditions, one of them outside the analysis, with two extractors."""
    path = tmp_path / "warehouse.duckdb"
    with duckdb.connect(path) as database:
        database.execute(
            """
            create schema marts; create schema meta;
            create table meta.build as select 'b1' as build_id;
            create table marts.study as select 'baseline' as baseline_condition, 'x' as primary_extractor,
                ['e'] as encoders;
            create table marts.sessions as
                select 'M' || m || '-' || l || '-' || c as session_id, l as language, c as condition,
                    m <> 9 as in_analysis
                from unnest([1, 2, 9]) as motions (m), unnest(['en', 'zh']) as languages (l),
                    unnest(['baseline', 'diversity']) as conditions (c);
            create table marts.turns as
                select session_id, t::integer as turn_index, language, condition, 'speech ' || t as text,
                    if(t = 8, 0, 1) as n_arguments
                from marts.sessions, range(1, 9) as turns (t);
            create table marts.arguments as
                select session_id || '/' || turn_index || '/1' as argument_id, extractor, session_id, turn_index,
                    1 as argument_index, 'claim ' || turn_index || ' ' || extractor as claim, '' as warrant,
                    'evidence' as evidence_or_example
                from marts.turns, unnest(['x', 'y']) as extractors (extractor) where n_arguments > 0;
            create table marts.max_prior_pairs as
                select argument_id, extractor, 'e' as encoder, 'claim' as field, session_id,
                    if(turn_index = 1, null, session_id || '/1/1') as nearest_argument_id,
                    language, if(turn_index = 1, null, turn_index / 10) as similarity
                from marts.arguments join marts.sessions using (session_id);
            """
        )
    return path


def labelled(tasks: Path, destination: Path, **answers: str) -> Path:
    """An export in which user 1 gave every task the same answers."""
    result = [
        {"from_name": name, "type": "choices", "value": {"choices": [answer]}} for name, answer in answers.items()
    ]
    export = [
        task | {"id": number, "annotations": [{"completed_by": 1, "result": result}]}
        for number, task in enumerate(json.loads(tasks.read_text(encoding="utf-8")))
    ]
    destination.write_text(json.dumps(export), encoding="utf-8")
    return destination


def test_a_plan_is_drawn_from_analysed_baseline_sessions_of_the_primary_extractor(
    warehouse: Path, tmp_path: Path
) -> None:
    counts = draw_audit(warehouse, tmp_path / "audit", **DRAW)
    pairs = pq.read_table(tmp_path / "audit" / "pairs.parquet").to_pylist()
    turns = pq.read_table(tmp_path / "audit" / "turns.parquet").to_pylist()
    assert counts == {"pairs": len(pairs), "turns": len(turns)}
    assert {row["argument_id"].split("/")[0] for row in pairs} <= {
        f"M{motion}-{code}-baseline" for motion in (1, 2) for code in ("en", "zh")
    }
    # Twelve pairs of each language; a turn whose extraction failed has nothing to audit.
    assert sum(row["weight"] for row in pairs) == pytest.approx(24)
    assert sum(row["weight"] for row in turns) == pytest.approx(28)
    assert len(turns) == 6 and all(row["turn_index"] < 8 for row in turns)
    settings = json.loads((tmp_path / "audit" / "plan.json").read_text())
    assert settings == {"build_id": "b1", **DRAW}


def test_what_goes_to_the_annotators_says_nothing_about_the_debate(warehouse: Path, tmp_path: Path) -> None:
    draw_audit(warehouse, tmp_path / "audit", **DRAW)
    for name in ("pair_tasks.json", "turn_tasks.json"):
        written = (tmp_path / "audit" / name).read_text(encoding="utf-8")
        assert "claim" in written
        assert not any(hidden in written for hidden in ("M1", "M2", "baseline", "similarity", "-zh", "0."))


def test_a_second_plan_never_replaces_a_first(warehouse: Path, tmp_path: Path) -> None:
    draw_audit(warehouse, tmp_path / "audit", **DRAW)
    before = (tmp_path / "audit" / "pairs.csv").read_bytes()
    with pytest.raises(AuditError, match="folder of its own"):
        draw_audit(warehouse, tmp_path / "audit", **DRAW | {"seed": 6})
    assert (tmp_path / "audit" / "pairs.csv").read_bytes() == before
    draw_audit(warehouse, tmp_path / "again", **DRAW)
    assert (tmp_path / "again" / "pairs.csv").read_bytes() == before


def test_an_encoder_that_the_warehouse_lacks_is_named_with_those_it_has(warehouse: Path, tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="no baseline pairs of f in en, zh; its encoders are e"):
        draw_audit(warehouse, tmp_path / "audit", **DRAW | {"encoder": "f"})
    assert not (tmp_path / "audit").exists()


def test_labels_come_back_as_annotations_of_pairs_and_turns(
    warehouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit = tmp_path / "audit"
    counts = draw_audit(warehouse, audit, **DRAW)
    pairs = labelled(audit / "pair_tasks.json", tmp_path / "pairs.json", label="2 partial repetition or extension")
    turns = labelled(audit / "turn_tasks.json", tmp_path / "turns.json", quality="4", over_split="false")
    destination = tmp_path / "annotations.csv"
    command = ["import-labels", str(audit), str(pairs), str(turns), "--annotator", "1=r1", "--to", str(destination)]
    assert main(command) == 0
    assert f"{counts['pairs'] + counts['turns']} annotations" in capsys.readouterr().out
    lines = destination.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + counts["pairs"] + counts["turns"]
    assert sum(line.startswith("repetition,r1,1,") for line in lines) == counts["pairs"]


def test_answers_of_the_labelling_page_become_annotations_of_both_rounds(
    warehouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit, destination, results = tmp_path / "audit", tmp_path / "annotations.csv", tmp_path / "results.json"
    draw_audit(warehouse, audit, **DRAW)
    assert main(["export-labels", str(audit), "--to", str(destination)]) == 1
    assert "holds no answers yet" in capsys.readouterr().err
    pairs, turns = (
        [task["data"]["task_id"] for task in json.loads((audit / f"{kind}_tasks.json").read_text(encoding="utf-8"))]
        for kind in ("pair", "turn")
    )
    store = LabelStore(audit)
    for annotator, label in {"r1": "0 new", "r2": "3 substantive repetition"}.items():
        for task in pairs:
            store.give(task, annotator, {"label": label})
    store.give(pairs[0], "r3", {"label": "2 partial repetition or extension", "note": "Narrower"}, 2)
    store.give(turns[0], "r1", {"quality": "4", "hallucination": "true"})
    store.give(turns[1], "r1", {"quality": "cannot judge"})
    command = ["export-labels", str(audit), "--to", str(destination), "--label-studio", str(results)]
    assert main(command) == 0
    assert f"{2 * len(pairs) + 2} annotations; 1 could not be judged" in capsys.readouterr().out
    with destination.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    (settled,) = [row for row in rows if row["round"] == "2"]
    assert (settled["annotator"], settled["label"], settled["note"]) == ("r3", "2", "Narrower")
    (turn,) = [row for row in rows if row["task"] == "extraction"]
    assert (turn["quality"], turn["hallucination"], turn["over_split"]) == ("4", "true", "")
    # Label Studio's own form gives the same annotations of the first round.
    again = tmp_path / "again.csv"
    codes = {code: code for code in ("r1", "r2")}
    assert import_labels(audit, [results], codes, 1, again)["annotations"] == 2 * len(pairs) + 1


def test_an_export_that_does_not_fit_writes_nothing_and_says_what_to_do(
    warehouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit = tmp_path / "audit"
    draw_audit(warehouse, audit, **DRAW)
    destination = tmp_path / "annotations.csv"
    strange = tmp_path / "strange.json"
    strange.write_text(json.dumps([{"data": {"task_id": "unknown"}, "annotations": []}]))
    with pytest.raises(LabelError, match="'unknown' is not in the plan"):
        import_labels(audit, [strange], {"1": "r1"}, 1, destination)
    strange.write_text("[{")
    with pytest.raises(AuditError, match="export the project as JSON again"):
        import_labels(audit, [strange], {"1": "r1"}, 1, destination)
    pairs = labelled(audit / "pair_tasks.json", tmp_path / "pairs.json", label="0 new")
    assert main(["import-labels", str(audit), str(pairs), "--annotator", "2=r2", "--to", str(destination)]) == 1
    assert "user 1, who has no annotator code" in capsys.readouterr().err
    assert main(["import-labels", str(tmp_path), str(pairs), "--annotator", "1=r1", "--to", str(destination)]) == 1
    assert "holds no plan" in capsys.readouterr().err
    assert not destination.exists()
