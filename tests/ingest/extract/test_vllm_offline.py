"""The offline backend against a module that stands in for vLLM; the real one needs a GPU and is not run here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ingest.extract import Speech, load_extraction_prompt
from ingest.extract.vllm_offline import OfflineError, extract_offline

PROMPT = load_extraction_prompt()
SPEECHES = [Speech("S1", turn, "A motion.", "en", "pro", f"Speech {turn}.") for turn in range(1, 9)]

# Stands in for the few names that the backend uses; it answers with what it was given, and notes each start.
FAKE = """
import json, os, pathlib, sys
from types import SimpleNamespace

class SamplingParams:
    def __init__(self, **settings):
        self.settings = settings

class LLM:
    def __init__(self, model, seed, **engine):
        with open(os.environ["FAKE_VLLM_STARTS"], "a") as starts:
            starts.write("started\\n")
        self.model, self.engine, self.chats = model, engine, 0

    def chat(self, conversations, sampling, use_tqdm):
        self.chats += 1
        if self.chats > int(os.environ.get("FAKE_VLLM_BATCHES", "100")):
            sys.exit("the GPU is gone")
        structured = sampling.settings["structured_outputs"]
        said = [
            json.dumps({"user": messages[1]["content"], "temperature": sampling.settings["temperature"],
                        "max_tokens": sampling.settings["max_tokens"], "schema": sorted(structured.json),
                        "engine": self.engine})
            for messages in conversations
        ]
        return [SimpleNamespace(outputs=[SimpleNamespace(text=text, finish_reason="stop")]) for text in said]
"""


@pytest.fixture
def fake_vllm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = tmp_path / "fake" / "vllm"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(FAKE)
    (package / "sampling_params.py").write_text(
        "class StructuredOutputsParams:\n    def __init__(self, json):\n        self.json = json\n"
    )
    metadata = tmp_path / "fake" / "vllm-0.99.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: vllm\nVersion: 0.99\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "fake"))
    monkeypatch.setenv("FAKE_VLLM_STARTS", str(tmp_path / "starts"))
    monkeypatch.setattr("ingest.extract.vllm_offline._POLL_S", 0.02)
    return tmp_path / "starts"


def records(directory: Path) -> list[dict]:
    return [json.loads(line) for line in (directory / "extractions.jsonl").read_text().splitlines()]


def run(tmp_path: Path) -> int:
    return extract_offline(
        SPEECHES, "scout-offline", "some/model", PROMPT, tmp_path / "work", tmp_path, engine={"max_model_len": 4096}
    )


def test_each_speech_is_asked_once_in_a_process_of_its_own_and_answers_are_joined_by_key(
    tmp_path: Path, fake_vllm: Path
) -> None:
    assert run(tmp_path) == 8
    for turn, record in enumerate(records(tmp_path), start=1):
        said = json.loads(record["raw_response"])
        assert f"Speech {turn}." in said["user"]
        assert (said["temperature"], said["max_tokens"], said["engine"]) == (0, 1024, {"max_model_len": 4096})
        assert "properties" in said["schema"]
        assert (record["turn_index"], record["extractor"], record["finish_reason"]) == (turn, "scout-offline", "stop")
        assert record["made_with"] == {"vllm": "0.99", "model": "some/model", "batch_invariant": False}
    before = (tmp_path / "extractions.jsonl").read_bytes()
    assert run(tmp_path) == 8
    assert (tmp_path / "extractions.jsonl").read_bytes() == before
    assert fake_vllm.read_text().count("started") == 1


def test_a_process_that_dies_publishes_nothing_and_is_resumed_behind_its_last_whole_answer(
    tmp_path: Path, fake_vllm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = tmp_path / "work" / "answers.jsonl"
    monkeypatch.setenv("FAKE_VLLM_BATCHES", "0")
    with pytest.raises(OfflineError, match="vLLM ended with status 1: the GPU is gone"):
        run(tmp_path)
    assert not (tmp_path / "extractions.jsonl").exists()
    monkeypatch.delenv("FAKE_VLLM_BATCHES")
    run(tmp_path)
    # Cut the last line, as a kill in the middle of a write does.
    whole = answers.read_bytes()
    answers.write_bytes(whole[:-40])
    (tmp_path / "extractions.jsonl").unlink()
    assert run(tmp_path) == 8
    assert len((tmp_path / "work" / "requests.jsonl").read_text().splitlines()) == 1
    assert [record["turn_index"] for record in records(tmp_path)] == list(range(1, 9))


def test_without_vllm_a_person_is_told_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.extract.vllm_offline._POLL_S", 0.02)
    with pytest.raises(OfflineError, match=r"\.venv/bin/pip install -e '\.\[gpu\]'"):
        run(tmp_path)
