"""Extraction with vLLM in its own process on a GPU machine, without a server.

A model's GPU memory is freed for certain only when its process ends, so the model lives in a process that this module
starts and that runs this module as a program: requests in as JSON Lines, answers out as JSON Lines, joined by key. The
answers file is also the record of what was done; a killed run goes on behind its last whole line.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from ingest.archive.write import write_jsonl
from ingest.errors import IngestError
from ingest.extract.prompt import ANSWER_SCHEMA, MAX_TOKENS, TEMPERATURE, ExtractionPrompt
from ingest.extract.speeches import Speech
from ingest.run.call import Progress

# At most so many answers are lost when the process is killed.
_BATCH = 256
_POLL_S = 0.5
_DECODING = {"temperature": TEMPERATURE, "max_tokens": MAX_TOKENS}


class OfflineError(IngestError):
    """The vLLM process cannot be started or has failed. `str()` says why and what to do."""


def extract_offline(
    speeches: Sequence[Speech],
    extractor: str,
    model: str,
    prompt: ExtractionPrompt,
    work: Path,
    dest: Path,
    *,
    engine: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> int:
    """Extracts with vLLM in a process of its own; writes `dest`/extractions.jsonl and returns its number of answers.

    `model` is a model's name or folder, `engine` further arguments of `vllm.LLM` (tensor_parallel_size, max_model_len).
    `work` keeps requests and answers between attempts. Raises OfflineError; then nothing is written to `dest`.
    """
    work.mkdir(parents=True, exist_ok=True)
    answers_file = work / "answers.jsonl"
    asked = [(speech, _request(prompt, speech, model, engine or {})) for speech in speeches]
    answered = _answers(answers_file)
    waiting = {request["key"]: request for _, request in asked if request["key"] not in answered}
    if waiting:
        write_jsonl(work / "requests.jsonl", waiting.values())
        _run(work / "requests.jsonl", answers_file, model, engine or {}, len(waiting), progress)
        answered = _answers(answers_file)
    if missing := waiting.keys() - answered.keys():
        raise OfflineError(f"vLLM ended without an answer to {len(missing)} of {len(asked)} speeches. Run it again.")
    records = (_record(speech, extractor, answered[request["key"]]) for speech, request in asked)
    return write_jsonl(dest / "extractions.jsonl", records)


def serve(requests_file: Path, answers_file: Path, model: str, engine: Mapping[str, Any]) -> None:
    """Answers each request and appends the answers, batch by batch. Runs in the model's own process."""
    try:
        from vllm import LLM, SamplingParams
        from vllm.sampling_params import StructuredOutputsParams
    except ModuleNotFoundError as error:
        sys.exit(f"{error}. On a GPU machine, install it with: .venv/bin/pip install -e '.[gpu]'")

    *lines, _ = requests_file.read_bytes().split(b"\n")
    requests = [json.loads(line) for line in lines]
    llm = LLM(model=model, seed=0, **engine)
    sampling = SamplingParams(**_DECODING, structured_outputs=StructuredOutputsParams(json=ANSWER_SCHEMA))
    # Temperature 0 alone does not make an answer independent of the batch it was computed in.
    made_with = {
        "vllm": metadata.version("vllm"),
        "model": model,
        "batch_invariant": os.environ.get("VLLM_BATCH_INVARIANT") == "1",
    }
    for start in range(0, len(requests), _BATCH):
        batch = requests[start : start + _BATCH]
        outputs = llm.chat([request["messages"] for request in batch], sampling, use_tqdm=False)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        answers = [
            {
                "key": request["key"],
                "text": output.outputs[0].text,
                "finish_reason": output.outputs[0].finish_reason,
                "created_at": now,
                "made_with": made_with,
            }
            for request, output in zip(batch, outputs, strict=True)
        ]
        _append(answers_file, answers)


def _request(prompt: ExtractionPrompt, speech: Speech, model: str, engine: Mapping[str, Any]) -> dict[str, Any]:
    """What vLLM is asked about a speech. The key covers all that the answer may depend on, as a ledger's does."""
    messages = list(prompt.messages(speech))
    content = {
        "messages": messages,
        "model": model,
        "engine": dict(engine),
        "decoding": _DECODING,
        "schema": ANSWER_SCHEMA,
    }
    text = json.dumps(content, ensure_ascii=False, sort_keys=True)
    return {"key": hashlib.sha256(text.encode()).hexdigest(), "messages": messages}


def _run(
    requests: Path, answers: Path, model: str, engine: Mapping[str, Any], n_waiting: int, progress: Progress | None
) -> None:
    """Runs `serve` in a process of its own until it ends. Its output goes to vllm.log beside the answers."""
    log = answers.with_name("vllm.log")
    before = len(_answers(answers))
    command = [sys.executable, "-m", __name__, str(requests), str(answers), model, json.dumps(engine)]
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT) as process:
        try:
            while process.poll() is None:
                time.sleep(_POLL_S)
                if progress is not None:
                    progress(len(_answers(answers)) - before, n_waiting)
        finally:
            process.kill()
    if process.returncode:
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        raise OfflineError(
            f"vLLM ended with status {process.returncode}: {lines[-1] if lines else 'it said nothing'} "
            f"All it said is in {log}. Answers given before are kept; run the command again to go on."
        )


def _answers(path: Path) -> dict[str, dict[str, Any]]:
    """The answers of a file by key; a last line that was cut is no answer."""
    if not path.exists():
        return {}
    *lines, _ = path.read_bytes().split(b"\n")
    return {answer["key"]: answer for line in lines if (answer := _whole(line)) is not None}


def _whole(line: bytes) -> dict[str, Any] | None:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _append(path: Path, answers: Sequence[Mapping[str, Any]]) -> None:
    with path.open("ab") as file:
        # A line that a killed process left unfinished is closed first, so that it spoils no other.
        if file.tell() and not path.read_bytes().endswith(b"\n"):
            file.write(b"\n")
        file.write(b"".join(json.dumps(answer, ensure_ascii=False).encode() + b"\n" for answer in answers))
        file.flush()
        os.fsync(file.fileno())


def _record(speech: Speech, extractor: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "session_id": speech.session_id,
        "turn_index": speech.turn_index,
        "extractor": extractor,
        "raw_response": answer["text"],
        "finish_reason": answer["finish_reason"],
        "created_at": answer["created_at"],
        "made_with": answer["made_with"],
    }


if __name__ == "__main__":
    _, requests_file, answers_file, model_name, engine_arguments = sys.argv
    serve(Path(requests_file), Path(answers_file), model_name, json.loads(engine_arguments))
