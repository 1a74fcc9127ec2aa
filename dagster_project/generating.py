"""A study's debates made, taken apart, and its motions translated: what the commands and the assets have in common.

Everything lands in the study's archive, a part for each thing that was asked for:

    <archive>/<phase>/                        the debates of a phase
    <archive>/<phase>-<extractor>/            what an extractor said about them
    <archive>-<phase>/<phase>/                continuations under other decoding settings, an archive of their own
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from dagster_project.lake import LIVE_LEDGER, Lake
from dagster_project.planning import Plan
from dagster_project.study import DebatePhase, DecodingPhase, ExtractionPhase, StudyError, TranslationPhase
from ingest.archive.parts import KNOWN_FILES
from ingest.archive.write import write_jsonl
from ingest.extract import SENTENCES, Speech, extract, extract_sentences, load_extraction_prompt, read_speeches
from ingest.run.agents import Agent
from ingest.run.archive import write_archive
from ingest.run.call import Progress
from ingest.run.caller import LedgerCaller
from ingest.run.continuations import run_continuations
from ingest.run.debate import Debate, DebateReport, debate_in_ledger, hold_debates
from ingest.run.export import export_debates, export_ledger, write_no_ledger
from ingest.run.ledger import Ledger, LedgerReader
from ingest.run.plan import planned_continuations, planned_sessions
from ingest.run.planned import PlannedSession
from ingest.run.prompts import render_turn
from ingest.translate import (
    TranslationReport,
    export_triage,
    import_triage,
    lock_translations,
    read_motion_records,
    review_motions,
    translate_motions,
)

# The ledger's tables as a build of the warehouse uses them.
LEDGER = "ledger"

# The marts made of them.
MARTS = {"calls": "calls", "runs": "runs", "debates": "planned_debates"}

SECONDS_BETWEEN_LOOKS = 15.0

# Makes the progress callback of one piece of work, from what is done and in which unit.
Reporter = Callable[[str, str], Progress]


_KINDS: dict[str, tuple[type, ...]] = {
    "generate": (DebatePhase, DecodingPhase),
    "extract": (DebatePhase, DecodingPhase, ExtractionPhase),
    "translate": (TranslationPhase,),
}


@dataclass(frozen=True)
class Outcome:
    """How a piece of work ended: one line to tell, and whether all that was asked for is there."""

    line: str
    is_complete: bool


@dataclass(frozen=True)
class Work:
    """A study's work in progress: its plan, where progress goes, and what may be spent (None: no limit)."""

    plan: Plan
    lake: Lake
    reporter: Reporter
    spending_cap: Decimal | None = None
    # How the study is called on the command line, for the command that goes on.
    study: str | None = None

    def generate(self, phases: Sequence[str] | None = None, *, restart_partial: bool = False) -> Iterator[Outcome]:
        """Holds what is left of the debates of each phase, then of the continuations, and writes their archives.

        The grids are locked before the first call. Raises StudyError for a phase that generates nothing.
        """
        names = self.phases("generate", phases)
        grids = {grid.phase: grid for grid in self.plan.lock_all(names)}
        with self._calling("generate") as (ledger, caller):
            for name in names:
                if isinstance(self.plan.generation.phases[name], DebatePhase):
                    yield self._debates(name, planned_sessions(grids[name]), ledger, caller, restart_partial)
            # Continuations follow debates, whatever the order in the study file.
            for name in names:
                if isinstance(self.plan.generation.phases[name], DecodingPhase):
                    yield self._continuations(name, caller)

    def extract(self, phases: Sequence[str] | None = None) -> Iterator[Outcome]:
        """Takes the debates of each phase apart by its extractors, as far as they have been held."""
        with self._calling("extract") as (_, caller):
            for name in self.phases("extract", phases):
                yield from self._extractions(name, caller)

    def translate(self, phases: Sequence[str] | None = None) -> Iterator[Outcome]:
        """Translates the motions that have no text yet, and has all translations put back and judged."""
        plan, motions = self.plan, self.plan.generation.motions
        with self._calling("translate") as (_, caller):
            for name in self.phases("translate", phases):
                phase = plan.generation.phases[name]
                assert isinstance(phase, TranslationPhase)
                reference = plan.study.reference_language
                records, report = translate_motions(
                    read_motion_records(motions),
                    phase.languages,
                    plan.translator(name, caller),
                    reference,
                    self.reporter(f"{name}: translating", "motions"),
                )
                write_jsonl(motions, records)
                yield _translated(name, "translated", report)
                records, report = review_motions(
                    records,
                    phase.languages,
                    plan.agents[phase.back_translator],
                    plan.agents[phase.judge],
                    caller,
                    reference,
                    self.reporter(f"{name}: reviewing", "answers"),
                )
                write_jsonl(motions, records)
                yield _translated(name, f"reviewed, {report.n_flagged:,} of them flagged", report)

    def part(self, name: str) -> Path:
        """The folder of a part of the study's archive."""
        phase = self.plan.generation.phases.get(name)
        archive = self._archive
        return (
            archive.with_name(f"{archive.name}-{name}") / name if isinstance(phase, DecodingPhase) else archive / name
        )

    @property
    def _archive(self) -> Path:
        archive = self.plan.study.archive
        assert archive is not None
        return archive

    def _debates(
        self, name: str, sessions: Sequence[PlannedSession], ledger: Ledger, caller: LedgerCaller, restart_partial: bool
    ) -> Outcome:
        render = partial(render_turn, self.plan.pack)
        told = self.reporter(name, "debates")
        looked = time.monotonic()

        def progress(done: int, total: int) -> None:
            nonlocal looked
            told(done, total)
            if time.monotonic() - looked > SECONDS_BETWEEN_LOOKS:
                self.show()
                looked = time.monotonic()

        try:
            report = hold_debates(
                sessions, self.plan.agents, render, ledger, caller, restart_partial=restart_partial, progress=progress
            )
        except KeyboardInterrupt:
            # What was answered is in the ledger: it is kept in the archive too, for whoever looks at it meanwhile.
            debates = tuple(debate_in_ledger(one, self.plan.agents, render, ledger) for one in sessions)
            report = DebateReport(debates, caller.halts)
            self._write_debates(name, report.debates, ledger)
            print(f"{name}: {report.closing_line(self._again('generate', name))}")
            raise
        self._write_debates(name, report.debates, ledger)
        is_complete = report.count("complete") == len(report.debates)
        return Outcome(f"{name}: {report.closing_line(self._again('generate', name))}", is_complete)

    def _write_debates(self, name: str, debates: Sequence[Debate], ledger: Ledger) -> None:
        motions = self.plan.generation.motions
        is_in_archive = motions.is_relative_to(self._archive)
        listed = [] if is_in_archive else read_motion_records(motions)
        write_archive(self.part(name), debates, ledger, source=self.plan.study.name, motions=listed)
        self.show()

    def _continuations(self, name: str, caller: LedgerCaller) -> Outcome:
        phase = self.plan.generation.phases[name]
        assert isinstance(phase, DecodingPhase)
        report = run_continuations(
            self.plan.pack,
            planned_continuations(self.plan.grid(name)),
            self.part(phase.of),
            self.plan.agents,
            caller,
            self.part(name),
            self.reporter(name, "speeches"),
        )
        self.show()
        line = f"{name}: {report.n_written:,} of {report.n_continuations:,} speeches are there"
        return self._ended(line, report.failed, report.n_waiting, report.halts, "generate", name)

    def _extractions(self, name: str, caller: LedgerCaller) -> Iterator[Outcome]:
        phase = self.plan.generation.phases[name]
        if isinstance(phase, ExtractionPhase):
            extractors, source = phase.extractors, self.part(phase.of)
            wanted = {session.session_id for session in self.plan.sessions_of(name)}
        else:
            extractors, source, wanted = self.plan.generation.extractors, self.part(name), None
        if not source.is_dir():
            yield Outcome(f"{name}: there are no debates to take apart yet. First: {self._again('generate')}", False)
            return
        speeches = read_speeches(source, wanted)
        for extractor in extractors:
            dest = self.part(name).with_name(f"{name}-{extractor}")
            yield self._extracted(name, extractor, speeches, dest, caller)

    def _extracted(
        self, name: str, extractor: str, speeches: Sequence[Speech], dest: Path, caller: LedgerCaller
    ) -> Outcome:
        what = f"{name}, {extractor}"
        if extractor == SENTENCES:
            return Outcome(f"{what}: {extract_sentences(speeches, dest):,} speeches are taken apart.", True)
        report = extract(
            speeches,
            self._agent(extractor),
            load_extraction_prompt(),
            caller,
            dest,
            self.reporter(what, "speeches"),
        )
        self.show()
        line = f"{what}: {report.n_answers:,} of {report.n_speeches:,} speeches are taken apart"
        return self._ended(line, report.failed, report.n_waiting, report.halts, "extract", name)

    def show(self) -> None:
        """Lets the page of runs see where the work stands."""
        show_ledger(self.plan, self.lake)

    def phases(self, command: str, named: Sequence[str] | None = None) -> list[str]:
        """The phases that a command (generate, extract, translate) is for: the named ones, or all.

        Raises StudyError for one that the command is not for, and for an archive that has no room for them.
        """
        phases, kinds = self.plan.generation.phases, _KINDS[command]
        fitting = [name for name, phase in phases.items() if isinstance(phase, kinds)]
        for name in named or ():
            if name not in fitting:
                raise StudyError(
                    f"`{command}` is not for phase {name!r}. It is for: {', '.join(fitting) or 'none here'}."
                )
        if not fitting:
            raise StudyError(f"Study '{self.plan.study.name}' has no phase for `{command}` (docs/running-a-study.md).")
        if self._archive.is_dir() and any((self._archive / name).is_file() for name in KNOWN_FILES.values()):
            raise StudyError(
                f"{self._archive} holds files of an archive itself. Move them into a folder below it: each phase "
                "becomes a folder beside them."
            )
        chosen = list(named or fitting)
        for name in chosen:
            place = self.part(name)
            if (
                command == "generate"
                and isinstance(phases[name], DebatePhase)
                and place.exists()
                and not place.is_symlink()
            ):
                raise StudyError(
                    f"{place} is there and was not made by a run. Move it, or give the phase another name."
                )
        return chosen

    def _agent(self, name: str) -> Agent:
        if name not in self.plan.agents:
            raise StudyError(f"No agent is called {name!r}. Declared: {', '.join(self.plan.agents)}.")
        return self.plan.agents[name]

    def _ended(
        self,
        line: str,
        failed: Mapping[str, int],
        n_waiting: int,
        halts: Sequence[str],
        command: str,
        phase: str,
    ) -> Outcome:
        parts = [line]
        if failed:
            told = ", ".join(f"{count:,} {kind}" for kind, count in failed.items()) + " (see the page Runs)"
            parts[0] += f"; without an answer: {told}"
        parts[0] += "."
        if n_waiting:
            parts += [*halts, f"To go on: {self._again(command, phase)}"]
        return Outcome(" ".join(parts), not n_waiting)

    def _again(self, command: str, phase: str | None = None) -> str:
        named = f" --phase {phase}" if phase else ""
        return f"reprise --study {shlex.quote(self.study or self.plan.study.name)} {command}{named}"

    @contextmanager
    def _calling(self, purpose: str) -> Iterator[tuple[Ledger, LedgerCaller]]:
        with Ledger(ledger_path(self.plan)) as ledger:
            caller = LedgerCaller(ledger, purpose, study=self.plan.study.name, spending_cap=self.spending_cap)
            ending = "failed"
            try:
                yield ledger, caller
                ending = "halted" if caller.halts else "finished"
            except KeyboardInterrupt:
                caller.stop()
                ending = "interrupted"
                raise
            finally:
                caller.close(ending)
                self.show()


def ledger_path(plan: Plan) -> Path:
    """Where a study's ledger lies."""
    return plan.generation.records / "ledger.sqlite"


def write_ledger(plan: Plan | None, directory: Path) -> dict[str, int]:
    """Writes the ledger as `calls.parquet`, `runs.parquet` and `debates.parquet`; returns their rows.

    Without a plan, or before its first run, the tables are empty. A run may be writing the ledger meanwhile.
    """
    if plan is None or not ledger_path(plan).is_file():
        write_no_ledger(directory)
        return {"calls": 0, "runs": 0, "debates": 0}
    n_calls, n_runs = export_ledger(ledger_path(plan), directory)
    with LedgerReader(ledger_path(plan)) as ledger:
        n_debates = export_debates(_debates_in(plan, ledger), directory)
    return {"calls": n_calls, "runs": n_runs, "debates": n_debates}


def show_ledger(plan: Plan, lake: Lake) -> None:
    """Writes the ledger's tables as the small database that the page of runs looks at, named as the marts are."""
    lake.make()
    with TemporaryDirectory(dir=lake.root, prefix=".ledger-") as tables, lake.replace(LIVE_LEDGER) as directory:
        write_ledger(plan, Path(tables))
        with duckdb.connect(directory / "ledger.duckdb") as database:
            database.execute("create schema marts")
            for table, mart in MARTS.items():
                file = str(Path(tables) / f"{table}.parquet")
                database.execute(f"create table marts.{mart} as from read_parquet($file)", {"file": file})


def _debates_in(plan: Plan, ledger: LedgerReader) -> Iterator[tuple[str, Debate]]:
    """The debates of every phase that has been locked: nothing was asked for in one that has not."""
    render = partial(render_turn, plan.pack)
    for grid in plan.locked():
        if isinstance(plan.generation.phases.get(grid.phase), DebatePhase):
            for session in planned_sessions(grid):
                yield grid.phase, debate_in_ledger(session, plan.agents, render, ledger)


def triage(plan: Plan, phase: str, *, export: Path | None, imported: Path | None, lock: bool) -> list[str]:
    """People's decisions on flagged translations of a phase: written out, taken in, the set closed. Lines to tell."""
    chosen = plan.generation.phases.get(phase)
    if not isinstance(chosen, TranslationPhase):
        raise StudyError(f"Phase {phase!r} translates nothing.")
    motions, languages = plan.generation.motions, chosen.languages
    records = read_motion_records(motions)
    told = []
    if imported is not None:
        records = import_triage(records, languages, imported)
        write_jsonl(motions, records)
        told.append(f"{imported}: decisions taken into {motions}.")
    if export is not None:
        told.append(f"{export}: {export_triage(records, languages, export):,} flagged translations to decide on.")
    if lock:
        lock_translations(records, languages, plan.locks)
        told.append(f"The translations are locked in {plan.locks}.")
    return told


def _translated(name: str, done: str, report: TranslationReport) -> Outcome:
    problems = "".join(f"\n  {cell}: {why}" for cell, why in sorted(report.problems.items()))
    line = f"{name}: {report.n_done:,} of {report.n_cells:,} texts {done}.{problems}"
    return Outcome(line, report.n_done == report.n_cells)
