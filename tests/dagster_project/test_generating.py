"""A study whose debates are made by models: from the command to the warehouse, against the provider on the loopback."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from ingest.archive.strict_rows import archive_rows
from tests.ingest.run.provider_server import ProviderServer, Reply, Seen, answer, error

REPRISE = Path(sys.executable).with_name("reprise")
KEYS = {"OPENAI_API_KEY": "sk-planted-openai-4242", "MISTRAL_API_KEY": "planted-mistral-4242"}
AGENTS = {
    "alpha": ("openai", "openai/gpt-5.5", {"max_completion_tokens": 300}),
    "beta": ("mistral", "mistral/mistral-large-latest", {"max_tokens": 300}),
    "taker": ("mistral", "mistral/mistral-large-latest", {"max_tokens": 1024, "temperature": 0}),
}
UNITS = {
    "arguments": [{"claim": "Cities gain.", "warrant": "", "evidence_or_example": "", "argument_type": "economic"}]
}


class Place:
    """A folder with a study that generates, and the command line on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def made(cls, folder: Path, server: ProviderServer, **generation: Any) -> Place:
        """Two motions in English and Chinese, two debaters and an extractor on the loopback, and one phase."""
        place = cls(folder)
        providers = {
            name: {"endpoint": server.url(name), "key_env": f"{name.upper()}_API_KEY", "max_in_flight": 4}
            for name in ("openai", "mistral")
        }
        agents = {
            name: {"provider": provider, "model": model, "parameters": parameters}
            for name, (provider, model, parameters) in AGENTS.items()
        }
        place._write("agents.yaml", {"providers": providers, "agents": agents})
        study = {
            "name": "made",
            "archive": "archive",
            "lake": "lake",
            "encoders": ["use-multilingual-v3"],
            "incomplete_sessions": "exclude",
            "estimator": {"n_resamples": 200},
            "generation": {
                "motions": "archive/motions/motions.jsonl",
                "records": "records",
                "agents_file": "agents.yaml",
                "agents": ["alpha", "beta"],
                "extractors": ["taker"],
                "phases": {"baseline": {"conditions": ["baseline"]}},
            }
            | generation,
        }
        place._write("study.yaml", study)
        motions = folder / "archive" / "motions" / "motions.jsonl"
        motions.parent.mkdir(parents=True)
        records = [
            {"motion_id": f"M{n}", "texts": {"en": f"This house would do {n}.", "zh": f"本院将做{n}。"}} for n in (1, 2)
        ]
        motions.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
        return place

    def _write(self, name: str, content: dict[str, Any]) -> None:
        (self.folder / name).write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")

    def reprise(self, *command: str) -> tuple[int, str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("REPRISE_", "DAGSTER_"))}
        done = subprocess.run(
            [str(REPRISE), "--study", str(self.folder / "study.yaml"), *command],
            env=clean | KEYS | {"DAGSTER_HOME": str(self.folder / "dagster_home")},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def rows(self, table: str) -> list[dict[str, Any]]:
        return archive_rows(self.folder / "archive", table)


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer() as running:
        yield running


def taken_apart(seen: Seen) -> Reply:
    """What the extractor's model says; the debaters' share its provider, and speak."""
    return answer(seen, json.dumps(UNITS)) if seen.json.get("temperature") == 0 else answer(seen)


def test_a_study_is_generated_extracted_and_measured_by_three_commands(server: ProviderServer, tmp_path: Path) -> None:
    place = Place.made(tmp_path, server)
    server.default = taken_apart
    status, told = place.reprise("generate")
    assert status == 0, told
    assert "Plan of study 'made': 2 motions" in told
    assert "baseline: 4 of 4 debates are complete." in told
    status, told = place.reprise("extract")
    assert status == 0, told
    assert "baseline, taker: 32 of 32 speeches are taken apart." in told
    status, told = place.reprise("run")
    assert status == 0, told

    with duckdb.connect(tmp_path / "lake" / "warehouse.duckdb", read_only=True) as warehouse:
        counted = "select count(*), count(*) filter (where outcome = 'answered') from marts.calls"
        assert warehouse.sql(counted).fetchall() == [(64, 64)]
        assert warehouse.sql("select purpose, ending from marts.runs order by run_id").fetchall() == [
            ("generate", "finished"),
            ("extract", "finished"),
        ]
        assert warehouse.sql("select status, count(*) from marts.planned_debates group by 1").fetchall() == [
            ("complete", 4)
        ]
        # Every speech says the same, so everything after the first turn is a perfect repetition.
        gaps = "select count(*), min(estimate) from marts.gap_estimates where contrast = 'language_gap'"
        assert warehouse.sql(gaps).fetchall()[0][0] > 0
        similar = "select min(mean_arg_max_prev) from marts.turn_similarity where turn_index > 1 and variant = 'raw'"
        assert warehouse.sql(similar).fetchall()[0][0] == pytest.approx(1, abs=1e-6)
        # What an answer cost is known where the price table knows the model, and NULL elsewhere.
        assert warehouse.sql("select count(*) from marts.calls where cost_usd = 0").fetchall() == [(0,)]

    n_calls = len(server.seen)
    assert n_calls == 64
    assert place.reprise("generate")[0] == place.reprise("extract")[0] == 0
    assert len(server.seen) == n_calls
    for path in tmp_path.rglob("*"):
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            assert not [key for key in KEYS.values() if key.encode() in content], path


def test_a_halt_keeps_what_there_is_and_names_the_command_that_goes_on(server: ProviderServer, tmp_path: Path) -> None:
    place = Place.made(tmp_path, server)
    broke = error(429, {"error": {"code": "insufficient_quota", "type": "insufficient_quota", "message": "No credit."}})
    server.replies["mistral"].extend([answer, answer, *[broke] * 40])
    status, told = place.reprise("generate")
    assert status == 1
    (last,) = [line for line in told.splitlines() if "of 4 debates are complete" in line]
    assert f"To go on: reprise --study {tmp_path / 'study.yaml'} generate --phase baseline" in last
    statuses = {row["session_id"]: row["status"] for row in place.rows("sessions")}
    assert "complete" not in statuses.values()

    server.replies["mistral"].clear()
    server.default = answer
    status, told = place.reprise("generate")
    assert status == 0, told
    assert {row["status"] for row in place.rows("sessions")} == {"complete"}
    assert len(place.rows("turns")) == 32


def test_the_first_study_of_the_docs_runs_as_it_is_written(server: ProviderServer, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/running-a-study.md").read_text(encoding="utf-8")
    first = page.split("## A first study")[1].split("\n## ")[0]
    motions, agents, study = re.findall(r"```(?:json|yaml)\n(.*?)```", first, re.DOTALL)
    files = {
        "archive/motions/motions.jsonl": motions,
        "agents.yaml": agents.replace("http://localhost:11434", server.url("ollama")),
        "study.yaml": study,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    place = Place(tmp_path)
    status, told = place.reprise("generate")
    assert status == 0, told
    assert "baseline: 2 of 2 debates are complete." in told
    assert "diversity: 2 of 2 debates are complete." in told
    status, told = place.reprise("extract")
    assert status == 0, told
    assert len(place.rows("extractions")) == 4 * 8
    status, told = place.reprise("sentences", str(tmp_path / "archive" / "baseline"), str(tmp_path / "elsewhere"))
    assert status == 0, told
    assert (tmp_path / "elsewhere" / "extractions.jsonl").read_bytes() == (
        tmp_path / "archive" / "baseline-sentences" / "extractions.jsonl"
    ).read_bytes()


def test_debates_are_translated_and_sent_there_and_back_into_a_part_of_their_own(
    server: ProviderServer, tmp_path: Path
) -> None:
    place = Place.made(tmp_path, server, extractors=["sentences"])
    assert place.reprise("generate")[0] == 0
    server.default = lambda seen: answer(seen, json.dumps({"translation": "A tram costs little. People ride."}))
    command = ["translate-debates", "zh", "--translator", "beta", "--to", str(tmp_path / "archive" / "rescored-zh")]
    status, told = place.reprise(*command)
    assert status == 0, told
    assert "2 debates translated, 2 sent there and back." in told
    assert {row["condition"] for row in archive_rows(tmp_path / "archive" / "rescored-zh", "sessions")} == {
        "baseline translated from zh",
        "baseline round trip through zh",
    }
    n_calls = len(server.seen)
    assert place.reprise(*command)[0] == 0
    assert len(server.seen) == n_calls
    status, told = place.reprise("translate-debates", "zh", "--translator", "nobody", "--to", str(tmp_path / "x"))
    assert (status, "No agent is called 'nobody'" in told) == (1, True)


def test_what_cannot_be_asked_for_is_told_before_anything_is_called(server: ProviderServer, tmp_path: Path) -> None:
    place = Place.made(tmp_path, server)
    status, told = place.reprise("generate", "--phase", "translation")
    assert (status, server.seen) == (1, [])
    assert "`generate` is not for phase 'translation'. It is for: baseline." in told
    assert "has no phase for `translate`" in place.reprise("translate")[1]
    assert "'nine' is no amount of dollars" in place.reprise("generate", "--spending-cap", "nine")[1]
    status, told = place.reprise("extract")
    assert status == 1
    assert "there are no debates to take apart yet" in told
    (tmp_path / "archive" / "baseline").mkdir()
    status, told = place.reprise("generate")
    assert (status, server.seen) == (1, [])
    assert "is there and was not made by a run" in told
    (tmp_path / "archive" / "turns.jsonl").touch()
    status, told = place.reprise("generate")
    assert (status, server.seen) == (1, [])
    assert "holds files of an archive itself" in told


def test_motions_are_translated_reviewed_decided_on_and_locked(server: ProviderServer, tmp_path: Path) -> None:
    place = Place.made(
        tmp_path,
        server,
        phases={
            "translation": {
                "kind": "translation",
                "languages": ["fr"],
                "translator": "alpha",
                "back_translator": "beta",
                "judge": "taker",
            },
            "baseline": {"conditions": ["baseline"], "languages": ["en", "fr"]},
        },
    )
    judgment = {"adequacy_score": 3, "issue_type": "scope", "brief_reason": "Wider."} | dict.fromkeys(
        (
            "preserves_actor",
            "preserves_policy_action",
            "preserves_stance_or_burden",
            "preserves_scope",
            "preserves_key_terms",
        ),
        True,
    )

    def reply(seen: Seen) -> Reply:
        said = {"translation": "Cette assemblée.", "back_translation": "This house."} | judgment
        return answer(seen, json.dumps(said))

    server.default = reply
    status, told = place.reprise("translate")
    assert status == 0, told
    assert "translation: 2 of 2 texts translated." in told
    assert "translation: 2 of 2 texts reviewed, 2 of them flagged." in told
    status, told = place.reprise("translate", "--lock")
    assert (status, "cannot be locked yet" in told) == (1, True)
    triage = tmp_path / "triage.csv"
    status, told = place.reprise("translate", "--export-triage", str(triage))
    assert f"{triage}: 2 flagged translations to decide on." in told
    with triage.open(encoding="utf-8-sig", newline="") as file:
        cells = list(csv.DictReader(file))
    with triage.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, cells[0])
        writer.writeheader()
        writer.writerows(cell | {"triage": "C"} for cell in cells)
    assert place.reprise("translate", "--import-triage", str(triage))[0] == 0
    status, told = place.reprise("translate", "--lock")
    assert status == 0, told
    assert "The translations are locked" in told
