"""Whole imports: every debate of a source into archive files, or the first few for a look."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingest.extract import SENTENCES, split_sentences
from ingest.importers.findings import EXAMPLES, KEPT, LEFT_OUT, Finding, Findings
from ingest.importers.findings import SENTENCES as MEANINGS
from ingest.importers.mapping import Mapping as ImportMapping
from ingest.importers.mapping import MappingError
from ingest.importers.reading import Debate, DebateReader, Turn
from ingest.importers.sources import contents, source_files

Progress = Callable[[int, int], None]

REPORT = "import/report.json"
FINDINGS = "import/findings.jsonl"
UNPLACED = "import/unplaced_claims.jsonl"


@dataclass(frozen=True)
class ImportReport:
    """What an import came to. `findings` counts by kind, `examples` are the first of each kind.

    `claims` counts the source's claims by how they came into a turn (in_turn: the source says it; exact, normalised:
    their text stands there), with those that did not as `unplaced`. `languages` and `conditions` count debates, the
    most frequent first.
    """

    mapping: str
    files: int
    debates: int
    turns: int
    claims: Mapping[str, int]
    sentences: int
    languages: Mapping[str, int]
    conditions: Mapping[str, int]
    motions: int
    agents: int
    findings: Mapping[str, int]
    examples: Mapping[str, tuple[Finding, ...]]

    @property
    def n_claims(self) -> int:
        return sum(self.claims.values())

    @property
    def share_placed(self) -> float | None:
        """Share of the source's claims that are in a turn; None without claims."""
        return 1 - self.claims.get("unplaced", 0) / self.n_claims if self.n_claims else None

    def lines(self) -> list[str]:
        """The report for a person."""
        lines = [
            f"{self.files:,} files, {self.debates:,} debates of {self.motions:,} motions, {self.turns:,} turns, "
            f"{self.agents:,} agents; languages: {_counted(self.languages)}."
        ]
        if self.share_placed is not None:
            lines.append(f"{self.n_claims:,} claims, {self.share_placed:.1%} in a turn ({_counted(self.claims)}).")
        if self.sentences:
            lines.append(f"{self.sentences:,} sentences as argument units.")
        for title, kinds in (("Left out", LEFT_OUT), ("Kept, and worth a look", KEPT)):
            if present := [kind for kind in kinds if self.findings.get(kind)]:
                lines.append(f"{title}:")
            for kind in present:
                lines.append(f"  {self.findings[kind]:,} × {kind}: {MEANINGS[kind]}")
                first = self.examples[kind][0]
                where = ", ".join(part for part in (first.file, first.place) if part)
                lines.append(f"      {where}: {first.detail}" if where else f"      {first.detail}")
        return lines

    def as_json(self) -> dict[str, Any]:
        """The report as a JSON object, with its examples."""
        return {
            **{name: value for name, value in vars(self).items() if name != "examples"},
            "share_placed": self.share_placed,
            "examples": {kind: [vars(one) for one in found] for kind, found in self.examples.items()},
        }


@dataclass(frozen=True)
class Preview:
    """The first debates of a source as they would be read, and the report on them alone; nothing is written."""

    debates: tuple[Debate, ...]
    files_in_all: int
    report: ImportReport

    def lines(self, width: int = 100) -> list[str]:
        """The debates and the report for a person."""
        lines = []
        for debate in self.debates:
            facts = {
                "motion": f"{debate.motion_id}  {debate.motion_text}",
                "language": debate.language,
                "condition": f"{debate.condition}, repeat {debate.repeat}",
                "status": debate.status,
                **debate.attributes,
                "from": ", ".join(part for part in (debate.file, debate.place) if part),
            }
            lines.append(f"Debate {debate.session_id}")
            lines.extend(f"  {name:<10} {_cut(str(value), width)}" for name, value in facts.items())
            for turn in debate.turns:
                who = " · ".join(part for part in (turn.phase, turn.role, turn.side, turn.agent) if part)
                lines.append(f"  {turn.turn_index:>3}. [{who}] {_cut(turn.text, width)}")
                lines.extend(f"         – {_cut(claim['claim'], width)}" for claim in turn.claims)
            lines.extend(f"  not in a turn: {_cut(claim['claim'], width)}" for claim in debate.unplaced)
            lines.append("")
        lines.append(f"The first {len(self.debates)} debates of a source with {self.files_in_all:,} files:")
        return lines + self.report.lines()


def preview_debates(mapping: ImportMapping, source: Path, limit: int = 3, *, crosswalk: Path | None = None) -> Preview:
    """Reads the first `limit` debates and writes nothing. Raises MappingError."""
    findings = Findings()
    run = _Import(mapping, source, crosswalk, findings)
    debates = []
    for debate in run.debates(None):
        debates.append(debate)
        run.count(debate)
        if len(debates) == limit:
            break
    return Preview(tuple(debates), len(run.files), run.report())


def import_debates(
    mapping: ImportMapping,
    source: Path,
    dest: Path,
    *,
    crosswalk: Path | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """Writes the debates of `source` as archive files into `dest`, and below it import/: report.json (this report),
    findings.jsonl (every case) and unplaced_claims.jsonl.

    `crosswalk` is a CSV file with the columns motion_id, source_motion (a motion's id or text in the source) and,
    optionally, language: it gives motions of several languages one id. Debates are read and written one at a time.
    `progress` gets files done and files in all. Raises MappingError, also when no debate is found.
    """
    (dest / "import").mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        lines = {
            name: stack.enter_context((dest / name).open("w", encoding="utf-8", newline="\n"))
            for name in ("sessions.jsonl", "turns.jsonl", "extractions.jsonl", "motions.jsonl", FINDINGS, UNPLACED)
        }

        def write(name: str, record: dict[str, Any]) -> None:
            lines[name].write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")

        findings = Findings(lambda finding: write(FINDINGS, finding))
        run = _Import(mapping, source, crosswalk, findings)
        for debate in run.debates(progress):
            run.count(debate)
            write("sessions.jsonl", _session(debate))
            for turn in debate.turns:
                write("turns.jsonl", _turn(debate, turn))
                for extraction in run.extractions(debate, turn):
                    write("extractions.jsonl", extraction)
            for claim in debate.unplaced:
                write(UNPLACED, {"session_id": debate.session_id, "file": debate.file, **claim})
        for motion in run.motions():
            write("motions.jsonl", motion)
        report = run.report()
    if not report.debates:
        told = " ".join(report.lines()[1:]) or "Its files hold none."
        raise MappingError(f"No debate was found in {source} with the mapping {mapping.name}. {told}")
    (dest / REPORT).write_text(json.dumps(report.as_json(), ensure_ascii=False, indent=1), encoding="utf-8")
    return report


class _Import:
    """One pass over a source: what has to be known about all debates so far."""

    def __init__(self, mapping: ImportMapping, source: Path, crosswalk: Path | None, findings: Findings) -> None:
        self._mapping = mapping
        self._findings = findings
        self._reader = DebateReader(mapping, findings)
        self._crosswalk = None if crosswalk is None else _read_crosswalk(crosswalk)
        self._contents: dict[str, bytes] = {}
        self._numbers: Counter[str] = Counter()
        self._repeats: Counter[tuple[str, ...]] = Counter()
        self._motions: dict[str, dict[str, str]] = {}
        self._counts: Counter[str] = Counter()
        self._languages: Counter[str] = Counter()
        self._conditions: Counter[str] = Counter()
        self._agents: set[str] = set()
        self._motion_ids: set[str | None] = set()
        self.files = source_files(source, mapping, findings)

    def debates(self, progress: Progress | None) -> Iterator[Debate]:
        for content in contents(self.files, self._mapping, self._findings, progress):
            for debate in self._reader.read(content):
                self._settle_motion(debate)
                if self._is_new(debate):
                    self._settle_repeat(debate)
                    yield debate

    def _is_new(self, debate: Debate) -> bool:
        """Whether the debate is no copy of an earlier one; another debate of the same id gets a number."""
        spoken = [(turn.turn_index, turn.agent, turn.text, turn.claims) for turn in debate.turns]
        about = (debate.motion_id, debate.language, debate.condition, debate.repeat, debate.attributes, spoken)
        content = hashlib.blake2b(json.dumps(about, default=str).encode(), digest_size=16).digest()
        first = self._contents.setdefault(debate.session_id, content)
        where = ", ".join(part for part in (debate.place, debate.session_id) if part)
        if debate.session_id not in self._numbers:
            self._numbers[debate.session_id] = 1
            return True
        if first == content:
            self._findings.add("debate_repeated", debate.file, where)
            return False
        given = debate.session_id
        number = self._numbers[given] = self._numbers[given] + 1
        debate.session_id = f"{given}~{number}"
        self._findings.add("debate_renumbered", debate.file, where, f"It is {debate.session_id} in the archive.")
        return True

    def _settle_motion(self, debate: Debate) -> None:
        """The debate's motion: by the crosswalk, as given, from its text, else the debate's own."""
        named = debate.motion_id or debate.motion_text
        if self._crosswalk is not None and named:
            common = self._crosswalk.get((named, debate.language), self._crosswalk.get((named, None)))
            if common is None and debate.motion_text:
                key = debate.motion_text
                common = self._crosswalk.get((key, debate.language), self._crosswalk.get((key, None)))
            if common is None:
                self._findings.add(
                    "motion_not_in_crosswalk", debate.file, debate.session_id, f"Motion {named[:200]!r}."
                )
            debate.motion_id = common or debate.motion_id
        if debate.motion_id is None:
            words = " ".join(debate.motion_text.split())
            debate.motion_id = "m-" + hashlib.sha256(words.encode()).hexdigest()[:12] if words else debate.session_id
        if not debate.motion_text:
            return
        texts = self._motions.setdefault(debate.motion_id, {})
        if texts.setdefault(debate.language, debate.motion_text) != debate.motion_text:
            detail = f"Motion {debate.motion_id}: {debate.motion_text[:200]!r}."
            self._findings.add("motion_text_differs", debate.file, debate.session_id, detail)

    def _settle_repeat(self, debate: Debate) -> None:
        """Debates that do not say which repeat they are are counted by motion, language and condition."""
        if debate.repeat is None:
            cell = (str(debate.motion_id), debate.language, debate.condition)
            self._repeats[cell] += 1
            debate.repeat = self._repeats[cell]

    def extractions(self, debate: Debate, turn: Turn) -> Iterator[dict[str, Any]]:
        """The turn's argument units as extractors' answers."""
        for units in self._mapping.extractors:
            if units == "claims":
                yield _extraction(debate, turn, self._mapping.extractor, turn.claims)
            else:
                sentences = split_sentences(turn.text, debate.language)
                self._counts["sentences"] += len(sentences)
                yield _extraction(debate, turn, SENTENCES, [{"claim": sentence} for sentence in sentences])

    def motions(self) -> Iterator[dict[str, Any]]:
        for motion_id, texts in self._motions.items():
            yield {"motion_id": motion_id, "source": self._mapping.name, "texts": texts}

    def count(self, debate: Debate) -> None:
        self._counts["debates"] += 1
        self._counts["turns"] += len(debate.turns)
        self._counts["claims"] += sum(len(turn.claims) for turn in debate.turns)
        self._counts["unplaced"] += len(debate.unplaced)
        self._counts["exact"] += sum(c.get("placed") == "exact" for turn in debate.turns for c in turn.claims)
        self._counts["normalised"] += sum(c.get("placed") == "normalised" for t in debate.turns for c in t.claims)
        self._languages[debate.language] += 1
        self._conditions[debate.condition] += 1
        self._agents |= {turn.agent for turn in debate.turns if turn.agent}
        self._motion_ids.add(debate.motion_id)

    def report(self) -> ImportReport:
        if unused := self._reader.unused_paths():
            self._findings.add("path_never_found", "", "", f"Nothing was found at {', '.join(map(repr, unused))}.")
        counts = self._counts
        claims = {
            "in_turn": counts["claims"] - counts["exact"] - counts["normalised"],
            "exact": counts["exact"],
            "normalised": counts["normalised"],
            "unplaced": counts["unplaced"],
        }
        return ImportReport(
            mapping=self._mapping.name,
            files=len(self.files),
            debates=counts["debates"],
            turns=counts["turns"],
            claims={how: count for how, count in claims.items() if count},
            sentences=counts["sentences"],
            languages=dict(self._languages.most_common()),
            conditions=dict(self._conditions.most_common()),
            motions=len(self._motion_ids),
            agents=len(self._agents),
            findings=dict(sorted(self._findings.counts.items())),
            examples={kind: tuple(found[:EXAMPLES]) for kind, found in sorted(self._findings.examples.items())},
        )


def _session(debate: Debate) -> dict[str, Any]:
    agents: dict[str, str | None] = {}
    roles: dict[str, set[str]] = {}
    for turn in debate.turns:
        if turn.agent:
            agents[turn.agent] = agents.get(turn.agent) or turn.model_id
            if turn.role:
                roles.setdefault(turn.role, set()).add(turn.agent)
    record: dict[str, Any] = {
        "session_id": debate.session_id,
        "motion_id": debate.motion_id,
        "motion_text": debate.motion_text,
        "language": debate.language,
        "condition": debate.condition,
        "repeat": debate.repeat,
        "role_mapping": {role: next(iter(held)) for role, held in roles.items() if len(held) == 1} or None,
        "agents": agents or None,
        "status": debate.status,
        "started_at": debate.started_at,
        "finished_at": debate.finished_at,
        "source": ", ".join(part for part in (debate.file, debate.place) if part),
    }
    return record | ({"attributes": debate.attributes} if debate.attributes else {})


def _turn(debate: Debate, turn: Turn) -> dict[str, Any]:
    return {
        "session_id": debate.session_id,
        "turn_index": turn.turn_index,
        "phase": turn.phase,
        "role": turn.role,
        "side": turn.side,
        "agent": turn.agent,
        "model_id": turn.model_id,
        "text": turn.text,
        "created_at": turn.created_at,
        **turn.extra,
    }


def _extraction(debate: Debate, turn: Turn, extractor: str, units: list[dict[str, Any]]) -> dict[str, Any]:
    texts = {"warrant": "", "evidence_or_example": "", "argument_type": ""}
    answer = {"arguments": [{**texts, **unit} for unit in units]}
    return {
        "session_id": debate.session_id,
        "turn_index": turn.turn_index,
        "extractor": extractor,
        "raw_response": json.dumps(answer, ensure_ascii=False),
    }


def _read_crosswalk(file: Path) -> dict[tuple[str, str | None], str]:
    """Common motion ids by the source's motion (id or text) and language; None is any language."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as stored:
            rows = csv.DictReader(stored, strict=True)
            absent = {"motion_id", "source_motion"} - set(rows.fieldnames or ())
            if absent:
                raise MappingError(
                    f"The crosswalk {file} has no column {sorted(absent)[0]}. Its columns are motion_id, source_motion "
                    "and, optionally, language."
                )
            common: dict[tuple[str, str | None], str] = {}
            for row in rows:
                key = (row["source_motion"], row.get("language") or None)
                if common.setdefault(key, row["motion_id"]) != row["motion_id"]:
                    raise MappingError(f"The crosswalk {file}, line {rows.line_num}, gives {key[0]!r} a second motion.")
            return common
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise MappingError(f"The crosswalk {file} cannot be read: {error}.") from error


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


def _cut(text: str, width: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"
