"""Debates into the archive format, derived from the ledger alone: the same ledger gives the same bytes."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ingest.errors import IngestError
from ingest.run.debate import Debate, Turn
from ingest.run.ledger import Ledger
from ingest.run.planned import PlannedSession


class ArchiveInTheWay(IngestError):
    """The archive cannot be written where it was asked for. `str()` names the place and the remedy."""


def write_archive(
    dest: Path,
    debates: Sequence[Debate],
    ledger: Ledger,
    *,
    source: str,
    motions: Iterable[Mapping[str, Any]] | None = None,
) -> Path:
    """Makes `dest` an archive of these debates, in one step, and returns the directory that it points at.

    `dest` becomes a symbolic link to a directory beside it, so that a reader sees all of the old files or all of the
    new ones. Debates that wait are left out; partial and failed ones are kept with `status_code` and `status_reason`.
    `motions` are records of the archive format; without them they are taken from the debates. With an empty list the
    archive has no motions file, because another part holds them.

    Raises ArchiveInTheWay when `dest` is something that this function did not make.
    """
    if dest.exists() and not dest.is_symlink():
        raise ArchiveInTheWay(
            f"{dest} exists and was not written by a run. Move it, or name another archive in the study."
        )
    begun = [debate for debate in debates if debate.status != "waiting"]
    listed = list(motions) if motions is not None else _motions(debate.planned for debate in debates)
    records = {
        **({"motions": listed} if listed else {}),
        "sessions": [_session(debate, ledger, source) for debate in begun],
        "turns": [_turn(debate, turn) for debate in begun for turn in debate.turns],
    }
    dest.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{dest.name}-draft-", dir=dest.parent))
    try:
        digest = hashlib.sha256()
        for table, rows in records.items():
            content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
            digest.update(f"{table}\0{len(content)}\0".encode() + content)
            with (draft / f"{table}.jsonl").open("wb") as file:
                file.write(content)
                os.fsync(file.fileno())
        final = dest.parent / f".{dest.name}-{digest.hexdigest()[:16]}"
        if final.exists():
            shutil.rmtree(draft)
        else:
            draft.chmod(0o755)
            draft.rename(final)
        fresh = dest.parent / f".{dest.name}-link-{os.getpid()}"
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(final.name)
        previous = dest.resolve() if dest.is_symlink() else None
        fresh.replace(dest)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    if previous is not None and previous != final.resolve() and previous.name.startswith(f".{dest.name}-"):
        shutil.rmtree(previous, ignore_errors=True)
    return final


def _motions(planned: Iterable[PlannedSession]) -> list[dict[str, Any]]:
    texts: dict[str, dict[str, str]] = {}
    for session in planned:
        texts.setdefault(session.motion_id, {})[session.language] = session.motion_text
    return [{"motion_id": motion, "texts": dict(sorted(by.items()))} for motion, by in sorted(texts.items())]


def _session(debate: Debate, ledger: Ledger, source: str) -> dict[str, Any]:
    planned, turns = debate.planned, debate.turns
    models: dict[str, str] = {}
    for turn in turns:
        models.setdefault(turn.agent.name, turn.model_id)
    return {
        "session_id": planned.session_id,
        "motion_id": planned.motion_id,
        "motion_text": planned.motion_text,
        "language": planned.language,
        "condition": planned.condition,
        "repeat": planned.repeat,
        "role_mapping": dict(planned.role_mapping),
        "agents": {agent: models.get(agent) for agent in planned.role_mapping.values()},
        "status": debate.status,
        "started_at": ledger.started_at(turns[0].answer.attempt_id) if turns else None,
        "finished_at": turns[-1].answer.created_at if debate.status == "complete" else None,
        "source": source,
        "status_code": debate.code,
        "status_reason": debate.reason,
    }


def _turn(debate: Debate, turn: Turn) -> dict[str, Any]:
    usage = turn.answer.usage
    return {
        "session_id": debate.planned.session_id,
        "turn_index": turn.template.turn_index,
        "phase": turn.template.phase,
        "role": turn.template.role,
        "side": turn.template.side,
        "agent": turn.agent.name,
        "model_id": turn.model_id,
        "text": turn.answer.text,
        "prompt_sha256": turn.prompt_sha256,
        "finish_reason": turn.answer.finish_reason,
        "usage": {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens},
        "created_at": turn.answer.created_at,
        "request_key": turn.answer.key,
    }
