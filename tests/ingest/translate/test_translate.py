"""Motions translated, reviewed, decided on by people, and locked."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import duckdb
import pytest

from ingest.archive.records import rows_of
from ingest.archive.write import write_jsonl
from ingest.run.call import CallProblem, CallRequest, ItemFailed
from ingest.run.lock import LockError
from ingest.translate import (
    FileTranslator,
    GoogleTranslator,
    ModelTranslator,
    MotionRecord,
    TranslationError,
    export_triage,
    import_triage,
    is_flagged,
    lock_translations,
    read_motion_records,
    review_motions,
    translate_motions,
)
from ingest.translate.answers import ISSUE_TYPES, PRESERVES
from tests.ingest.fake_caller import FakeCaller, agent

ROOT = Path(__file__).parents[3]
LANGUAGES = ("fr", "zh")
BACK, JUDGE = agent("back", temperature=1), agent("judge")
KEY = "google-key-0123456789"


def motions() -> list[MotionRecord]:
    return [
        {"motion_id": f"M{index}", "source": "own", "texts": {"en": f"Motion {index} {{in}} English."}, "year": 2026}
        for index in (1, 2, 3)
    ]


def judgment(**fields: Any) -> str:
    kept = {"adequacy_score": 5, **dict.fromkeys(PRESERVES, True), "issue_type": "none", "brief_reason": "Same."}
    return json.dumps(kept | fields)


def answers(request: CallRequest) -> str | CallProblem:
    place = f"{request.subject['motion_id']}/{request.subject['language']}"
    if request.stage == "translation":
        return json.dumps({"translation": f"{place} translated"})
    if request.stage == "back_translation":
        return f"```json\n{json.dumps({'back_translation': f'{place} put back'})}\n```"
    if place == "M2/zh":
        return judgment(preserves_scope=False, issue_type="scope", brief_reason="=Narrower")
    return judgment()


def translated() -> list[MotionRecord]:
    return translate_motions(motions(), LANGUAGES, ModelTranslator(agent("t"), FakeCaller(answers), "en"))[0]


def reviewed() -> list[MotionRecord]:
    return review_motions(translated(), LANGUAGES, BACK, JUDGE, FakeCaller(answers))[0]


def qa(records: list[MotionRecord], motion: str, language: str) -> dict[str, Any]:
    return next(record for record in records if record["motion_id"] == motion)["qa"][language]


def test_a_model_translates_what_has_no_text_yet_and_keeps_what_has() -> None:
    records = motions()
    records[0]["texts"]["fr"] = "Déjà là."
    caller = FakeCaller(answers)
    done, report = translate_motions(records, LANGUAGES, ModelTranslator(agent("t"), caller, "en"))
    assert done[0]["texts"] == {"en": "Motion 1 {in} English.", "fr": "Déjà là.", "zh": "M1/zh translated"}
    assert done[0]["year"] == 2026
    assert (report.n_cells, report.n_done, report.problems) == (5, 5, {})
    assert "fr" not in motions()[0]["texts"]
    assert all("Motion" in request.messages[0]["content"] for request in caller.asked)


def test_a_translation_that_cannot_be_had_is_a_problem_of_its_cell_alone() -> None:
    def reply(request: CallRequest) -> str | CallProblem:
        if request.subject["motion_id"] == "M1":
            return ItemFailed("content_filter", "The provider's filter withheld the answer.")
        return "I cannot." if request.subject["motion_id"] == "M2" else answers(request)

    done, report = translate_motions(motions(), ["fr"], ModelTranslator(agent("t"), FakeCaller(reply), "en"))
    assert report.n_done == 1
    assert "filter withheld" in report.problems["M1/fr"]
    assert "no JSON object (not_json)" in report.problems["M2/fr"]
    assert "fr" not in done[0]["texts"]


def test_the_back_translator_sees_the_translation_alone_at_its_own_decoding() -> None:
    caller = FakeCaller(answers)
    review_motions(translated(), LANGUAGES, BACK, JUDGE, caller)
    back = [request for request in caller.asked if request.stage == "back_translation"]
    assert len(back) == 6
    for request in back:
        (message,) = request.messages
        assert "translated" in message["content"]
        assert "{in} English" not in message["content"]
        assert request.sampling == {"temperature": 1, "max_tokens": 400}
    judged = [request for request in caller.asked if request.stage == "adequacy"]
    assert {request.sampling["max_tokens"] for request in judged} == {700}
    assert {request.sampling["temperature"] for request in judged} == {0}
    for request in judged:
        place = f"{request.subject['motion_id']}/{request.subject['language']}"
        text = request.messages[0]["content"]
        assert all(part in text for part in ("{in} English", f"{place} translated", f"{place} put back"))


def test_a_review_fills_the_qa_of_the_archive_format() -> None:
    records, report = review_motions(translated(), LANGUAGES, BACK, JUDGE, FakeCaller(answers))
    assert (report.n_cells, report.n_done, report.n_flagged, report.problems) == (6, 6, 1, {})
    (row,) = [row for row in rows_of("motions", records[1]) if row["language"] == "zh"]
    assert row["back_translation"] == "M2/zh put back"
    assert (row["adequacy_score"], row["preserves_scope"], row["issue_type"]) == (5, False, "scope")
    assert row["triage"] is None


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (judgment(adequacy_score=6), "adequacy_score is 6"),
        (judgment(adequacy_score=True), "adequacy_score is True"),
        (judgment(preserves_actor="yes"), "preserves_actor is 'yes'"),
        (judgment(issue_type="tone"), "issue_type is 'tone'"),
        (judgment()[:-20], "no JSON object (truncated)"),
        ("It is fine.", "no JSON object (not_json)"),
    ],
)
def test_a_judgment_that_cannot_be_read_is_no_review(answer: str, told: str) -> None:
    def reply(request: CallRequest) -> str | CallProblem:
        is_bad = request.stage == "adequacy" and request.subject == {"motion_id": "M1", "language": "fr"}
        return answer if is_bad else answers(request)

    records, report = review_motions(translated(), LANGUAGES, BACK, JUDGE, FakeCaller(reply))
    assert list(report.problems) == ["M1/fr"]
    assert told in report.problems["M1/fr"]
    assert "fr" not in records[0]["qa"]
    assert is_flagged(records[0]["qa"].get("fr")) is None


def test_a_failed_second_review_keeps_the_first_and_its_decision() -> None:
    before = reviewed()
    before[1]["qa"]["zh"]["triage"] = "C"
    after, report = review_motions(
        before, LANGUAGES, BACK, JUDGE, FakeCaller(lambda _: ItemFailed("retries_exhausted", "No answer."))
    )
    assert after == before
    assert len(report.problems) == 6
    again, _ = review_motions(before, LANGUAGES, BACK, JUDGE, FakeCaller(answers))
    assert qa(again, "M2", "zh")["triage"] == "C"


def test_the_flag_rule_is_the_one_of_the_mart() -> None:
    """Every combination of scores, preserved fields and issue types, absent ones included, in Python and in SQL."""
    sql = (ROOT / "dbt/models/marts/motions.sql").read_text()
    has_qa = re.search(r"coalesce\((.*?)\) is not null as has_qa", sql, re.DOTALL)
    rule = re.search(r"as has_qa,\s+(coalesce.*?) as meets_flag_rule", sql, re.DOTALL)
    assert has_qa
    assert rule
    preserved = [{}, dict.fromkeys(PRESERVES, True), *({name: False} for name in PRESERVES)]
    reviews = [
        {**fields, "adequacy_score": score, "issue_type": issue}
        for fields in preserved
        for score in (None, 1, 3, 4, 5)
        for issue in (None, " None", *ISSUE_TYPES)
    ]
    columns = {"adequacy_score": "integer", "issue_type": "varchar", **dict.fromkeys(PRESERVES, "boolean")}
    with duckdb.connect() as database:
        declared = ", ".join(f"{name} {kind}" for name, kind in columns.items())
        database.execute(f"create table reviews (place integer, {declared})")
        marks = ", ".join("?" for _ in range(len(columns) + 1))
        database.executemany(
            f"insert into reviews values ({marks})",
            [(place, *(review.get(name) for name in columns)) for place, review in enumerate(reviews)],
        )
        flagged = database.execute(
            f"select if(coalesce({has_qa[1]}) is not null, {rule[1]}, null) from reviews order by place"
        ).fetchall()
    assert [is_flagged(review) for review in reviews] == [flag for (flag,) in flagged]


def decide(path: Path, decisions: dict[tuple[str, str], dict[str, str]]) -> None:
    """Fills in the triage file as a person does in a spreadsheet."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row.update(decisions.get((row["motion_id"], row["language"]), {}))
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def test_flagged_cells_go_out_and_come_back_with_decisions(tmp_path: Path) -> None:
    file = tmp_path / "triage.csv"
    assert export_triage(reviewed(), LANGUAGES, file) == 1
    assert "'=Narrower" in file.read_text(encoding="utf-8-sig")
    decide(file, {("M2", "zh"): {"triage": "b"}})
    records = import_triage(reviewed(), LANGUAGES, file)
    assert qa(records, "M2", "zh")["triage"] == "B"
    assert qa(records, "M2", "zh")["back_translation"] == "M2/zh put back"


def test_a_corrected_text_replaces_the_translation_and_must_be_reviewed_itself(tmp_path: Path) -> None:
    file = tmp_path / "triage.csv"
    export_triage(reviewed(), LANGUAGES, file)
    decide(file, {("M2", "zh"): {"triage": "A", "corrected_text": "更正后的辩题。"}})
    records = import_triage(reviewed(), LANGUAGES, file)
    assert records[1]["texts"]["zh"] == "更正后的辩题。"
    assert "zh" not in records[1]["qa"]
    with pytest.raises(TranslationError, match=r"1 not reviewed \(M2/zh\)"):
        lock_translations(records, LANGUAGES, tmp_path)


HEADER = "motion_id,language,motion_text,triage,corrected_text\n"


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("M9,zh,x,B,\n", r"line 2 \(M9/zh\): there is no such motion and language"),
        ("M2,zh,M2/zh translated,D,\n", r"line 2 \(M2/zh\): triage is 'D'; write A, B, C"),
        ("M2,zh,M2/zh translated,A,\n", "triage is A and there is no corrected_text"),
        ("M2,zh,M2/zh translated,B,Other.\n", "only A is corrected"),
        ("M2,zh,an older text,B,\n", "motion_text is not the present translation"),
        ("M2,zh,M2/zh translated,B,\nM2,zh,M2/zh translated,C,\n", r"line 3 \(M2/zh\): it has an earlier row"),
        ('M2,zh,"M2/zh translated,B,\n', "line 2: The row that starts here is not CSV"),
        ("M9,zh,x,B,\nM2,zh,M2/zh translated,D,\n", r"line 2 .*line 3 "),
    ],
)
def test_a_triage_file_with_faults_names_each_row_and_changes_nothing(tmp_path: Path, rows: str, told: str) -> None:
    file = tmp_path / "triage.csv"
    file.write_text(HEADER + rows)
    with pytest.raises(TranslationError, match=told):
        import_triage(reviewed(), LANGUAGES, file)
    file.write_text("motion_id,language\nM2,zh\n")
    with pytest.raises(TranslationError, match="triage"):
        import_triage(reviewed(), LANGUAGES, file)


def test_the_set_is_locked_when_nothing_is_open_and_cannot_change_after(tmp_path: Path) -> None:
    with pytest.raises(TranslationError, match=r"3 not translated \(M1/fr, M2/fr, M3/fr\)"):
        lock_translations(motions(), ["fr"], tmp_path)
    records = reviewed()
    with pytest.raises(TranslationError, match=r"1 flagged and not decided \(M2/zh\)"):
        lock_translations(records, LANGUAGES, tmp_path)
    records[1]["qa"]["zh"]["triage"] = "C"
    assert lock_translations(records, LANGUAGES, tmp_path)
    assert not lock_translations(records, LANGUAGES, tmp_path)
    records[0]["texts"]["fr"] = "Autre."
    with pytest.raises(LockError, match=r"text differs in 1 \(M1/fr\)"):
        lock_translations(records, LANGUAGES, tmp_path)


def test_motions_survive_being_written_and_read(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "motions.jsonl", reviewed())
    assert read_motion_records(tmp_path / "motions.jsonl") == reviewed()
    (tmp_path / "motions.jsonl").write_text('{"motion_id": "M1", "texts": {}}\n')
    with pytest.raises(Exception, match=r"motions\.jsonl cannot be used at line 1"):
        read_motion_records(tmp_path / "motions.jsonl")


def test_ready_translations_come_from_a_file_and_its_faults_are_told_by_row(tmp_path: Path) -> None:
    file = tmp_path / "ready.csv"
    file.write_text('motion_id,language,text\nM1,fr," Un. "\nM2,fr,Deux.\n')
    done, report = translate_motions(motions(), ["fr"], FileTranslator(file))
    assert [record["texts"].get("fr") for record in done] == ["Un.", "Deux.", None]
    assert "has no row for it" in report.problems["M3/fr"]
    file.write_text("motion_id,language,text\nM1,fr,\nM2,fr,Deux.\nM2,fr,Zwei.\n")
    with pytest.raises(TranslationError, match=r"line 2: .*must all have a value.*line 4: another row .* M2/fr"):
        translate_motions(motions(), ["fr"], FileTranslator(file))


class Google(BaseHTTPRequestHandler):
    """Speaks Google Cloud Translation's wire format; `statuses` are given out before it answers."""

    statuses: list[int]
    seen: list[dict[str, Any]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append({"path": self.path, "key": self.headers["X-Goog-Api-Key"], **body})
        status = self.statuses.pop(0) if self.statuses else 200
        told = {"data": {"translations": [{"translatedText": f"{body['target']}: {body['q']}"}]}}
        if status != 200:
            told = {"error": {"code": status, "message": "The quota is used up."}}
        self.send_response(status)
        if status == 429:
            self.send_header("Retry-After", "7")
        self.end_headers()
        self.wfile.write(json.dumps(told).encode())

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, type[Google]]]:
    class Handler(Google):
        statuses: list[int] = []  # noqa: RUF012
        seen: list[dict[str, Any]] = []  # noqa: RUF012

    monkeypatch.setenv("GOOGLE_TRANSLATE_API_KEY", KEY)
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/translate", Handler
        server.shutdown()


def test_google_is_asked_once_a_cell_and_never_again(google: tuple[str, type[Google]], tmp_path: Path) -> None:
    endpoint, handler = google
    waits: list[float] = []
    handler.statuses = [429, 503]
    journal = tmp_path / "google.jsonl"
    translator = GoogleTranslator(journal, "en", endpoint=endpoint, sleep=waits.append)
    done, report = translate_motions(motions(), ["fr"], translator)
    assert [record["texts"]["fr"] for record in done] == [f"fr: Motion {n} {{in}} English." for n in (1, 2, 3)]
    assert waits == [7, 2]
    assert handler.seen[0] == {
        "path": "/translate",
        "key": KEY,
        "q": "Motion 1 {in} English.",
        "source": "en",
        "target": "fr",
        "format": "text",
    }
    assert len(handler.seen) == 5
    journal.write_bytes(journal.read_bytes()[:-10])
    again, report = translate_motions(motions(), ["fr"], GoogleTranslator(journal, "en", endpoint=endpoint))
    assert again == done
    assert report.n_done == 3
    assert len(handler.seen) == 6
    assert KEY.encode() not in journal.read_bytes()


def test_a_refusal_ends_the_work_and_every_cell_is_told_why(google: tuple[str, type[Google]], tmp_path: Path) -> None:
    endpoint, handler = google
    handler.statuses = [200, 403]
    translator = GoogleTranslator(tmp_path / "google.jsonl", "en", endpoint=endpoint, sleep=lambda _: None)
    done, report = translate_motions(motions(), ["fr"], translator)
    assert len(handler.seen) == 2
    assert done[0]["texts"]["fr"] == "fr: Motion 1 {in} English."
    assert list(report.problems) == ["M2/fr", "M3/fr"]
    assert "status 403: The quota is used up." in report.problems["M3/fr"]
    assert KEY not in str(report)


def test_a_missing_key_is_told_before_anything_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_TRANSLATE_API_KEY", raising=False)
    with pytest.raises(TranslationError, match="GOOGLE_TRANSLATE_API_KEY is not set"):
        translate_motions(motions(), ["fr"], GoogleTranslator(tmp_path / "google.jsonl", "en"))
