"""The command line: run the study, show its gaps, open a prompt. The Makefile's targets call it."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING

from dagster_project.audit import AuditError, draw_audit, export_labels, import_labels
from dagster_project.lake import LAKE_VARIABLE, PROJECT_ROOT, LakeError, resolve_lake
from dagster_project.study import ARCHIVE_VARIABLE, STUDY_VARIABLE, StudyError
from ingest.errors import IngestError

if TYPE_CHECKING:
    from ingest.run.agents import Agent
    from ingest.run.caller import LedgerCaller

HOME_VARIABLE = "DAGSTER_HOME"
# Studies of imported transcripts, a folder each.
IMPORTS = PROJECT_ROOT / "imports"


class NothingPublished(RuntimeError):
    """A command asks for a warehouse that no run has published yet."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit status is 0 when it did what was asked. Faults of the input are told in sentences."""
    parser = argparse.ArgumentParser(
        prog="reprise", description="Prior-argument similarity of LLM debates, as a warehouse."
    )
    parser.add_argument("--study", help="a study in dagster_project/studies/, or a .yaml file (default: sample)")
    parser.add_argument("--lake", help="the lake's folder (default: the study's, else lake/)")
    parser.add_argument("--archive", help="an archive folder to analyse in place of the study's own")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("run", help="materialize the whole study and publish the warehouse")
    commands.add_parser("ui", help="open the Dagster UI on the study")
    commands.add_parser("read", help="read the archive's parts that Dagster does not know yet")
    commands.add_parser("gaps", help="print the language gaps of the published warehouse")
    scores = commands.add_parser("export", help="write the published per-turn scores as CSV and Parquet")
    scores.add_argument("folder", type=Path)
    commands.add_parser("report", help="say where the study's report and figures are")
    commands.add_parser("sql", help="open a read-only SQL prompt on the published warehouse")
    commands.add_parser("dashboard", help="open the dashboard on the published warehouse")
    draw = commands.add_parser("draw-audit", help="draw pairs and turns for people to label, as Label Studio tasks")
    draw.add_argument("folder", type=Path, help="a new folder for the plan and its tasks")
    draw.add_argument("--encoder", required=True, help="whose similarity makes the strata")
    draw.add_argument("--languages", nargs="+", required=True, metavar="CODE")
    draw.add_argument("--pairs", type=int, default=20, help="of each language and quintile (default: 20)")
    draw.add_argument("--turns", type=int, default=50, help="of each language (default: 50)")
    draw.add_argument("--seed", type=int, default=42)
    take = commands.add_parser("import-labels", help="turn Label Studio's JSON exports into an annotations.csv")
    take.add_argument("folder", type=Path, help="the folder that draw-audit wrote")
    take.add_argument("exports", type=Path, nargs="+", metavar="EXPORT")
    take.add_argument("--annotator", action="append", required=True, metavar="USER=CODE", dest="annotators")
    take.add_argument("--round", type=int, default=1, help="1: labelled alone; 2: adjudicated (default: 1)")
    take.add_argument("--to", type=Path, default=Path("annotations.csv"), help="default: annotations.csv")
    label = commands.add_parser("label", help="open the page on which people label what draw-audit drew")
    label.add_argument("folder", type=Path, help="the folder that draw-audit wrote")
    label.add_argument("--adjudicate", action="store_true", help="settle where annotators differ, once all are done")
    label.add_argument("--host", default="localhost", help="who may reach the page (default: only this machine)")
    label.add_argument("--port", type=int, default=8502)
    give = commands.add_parser("export-labels", help="write the labels of the page as an annotations.csv")
    give.add_argument("folder", type=Path, help="the folder that draw-audit wrote")
    give.add_argument("--to", type=Path, default=Path("annotations.csv"), help="default: annotations.csv")
    give.add_argument("--label-studio", type=Path, metavar="JSON", help="also as Label Studio exports them")
    judge = commands.add_parser("judge", help="ask a model about pairs or debates of the published warehouse")
    judge.add_argument("what", choices=["pairs", "functions", "outcomes"])
    judge.add_argument("--judge", required=True, metavar="AGENT", help="a declared agent, none that debates")
    judge.add_argument("--to", type=Path, required=True, help="the folder of the judgments, best a part of the archive")
    judge.add_argument("--round", type=int, default=1, help="another round asks anew (default: 1)")
    judge.add_argument("--languages", nargs="+", default=["en", "zh"], metavar="CODE", help="default: en zh")
    judge.add_argument("--plan", type=Path, metavar="FOLDER", help="pairs: those of an audit; default: labelled ones")
    judge.add_argument("--encoder", help="functions: whose top decile")
    judge.add_argument("--number", type=int, help="functions: of each language (default: 100); outcomes: drawn debates")
    judge.add_argument("--turns", type=int, choices=range(1, 8), help="outcomes: show the judge the first turns alone")
    judge.add_argument("--seed", type=int, default=42)
    rescore = commands.add_parser(
        "translate-debates", help="put debates into the reference language, and reference ones there and back"
    )
    rescore.add_argument("language", help="the language to translate out of, such as zh")
    rescore.add_argument("--translator", required=True, help="a declared agent, or google")
    rescore.add_argument("--to", type=Path, required=True, help="the folder of the new sessions, a part of the archive")
    rescore.add_argument("--motions", nargs="+", metavar="ID", help="default: all that both languages have")
    rescore.add_argument("--condition", help="default: the study's baseline")
    for paid in (judge, rescore):
        paid.add_argument("--agents-file", type=Path, help="default: the study's, else the shipped one")
        paid.add_argument("--records", type=Path, help="the ledger's folder; default: the study's")
        paid.add_argument(
            "--spending-cap", type=_dollars, metavar="USD", help="stop before the study has cost more than this"
        )
    plan = commands.add_parser("plan", help="show what generating the study's debates takes: calls, tokens, money")
    plan.add_argument("--phase", action="append", help="only this phase of the study (may be repeated)")
    plan.add_argument("--lock", action="store_true", help="lock the grids of the phases, so that they cannot change")
    generate = commands.add_parser("generate", help="hold the study's debates, going on where an earlier run ended")
    generate.add_argument("--restart-partial", action="store_true", help="begin debates anew that were broken off")
    extract = commands.add_parser("extract", help="take the study's debates apart by its extractors")
    translate = commands.add_parser("translate", help="translate the study's motions, and have translations reviewed")
    translate.add_argument("--export-triage", type=Path, metavar="CSV", help="only write out what people decide on")
    translate.add_argument("--import-triage", type=Path, metavar="CSV", help="only take people's decisions in")
    translate.add_argument("--lock", action="store_true", help="only close the set of translations")
    for paid in (generate, extract, translate):
        paid.add_argument("--phase", action="append", help="only this phase of the study (may be repeated)")
        paid.add_argument(
            "--spending-cap", type=_dollars, metavar="USD", help="stop before the study has cost more than this"
        )
        paid.add_argument("--yes", action="store_true", help="do not ask before the first call")
    sentences = commands.add_parser("sentences", help="take an archive's speeches apart by sentence, without a model")
    sentences.add_argument("source", type=Path, metavar="ARCHIVE", help="an archive, or a part of one")
    sentences.add_argument("to", type=Path, help="the folder of the new part")
    bring = commands.add_parser("import", help="bring other people's transcripts into a study of their own")
    bring.add_argument("mapping", help="a ready mapping, or a mapping's .yaml file")
    bring.add_argument("source", type=Path, help="the folder or file of the transcripts")
    bring.add_argument("--name", help="the study's name (default: the source's)")
    bring.add_argument("--into", type=Path, help="the study's folder (default: imports/NAME)")
    bring.add_argument("--crosswalk", type=Path, help="a CSV file that pairs motions across languages")
    bring.add_argument(
        "--dry-run", type=int, nargs="?", const=3, metavar="N", help="show the first N debates, write nothing"
    )
    dbt = commands.add_parser("dbt", help="run a dbt command on the study's working database")
    dbt.add_argument("dbt_arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)

    try:
        return _command(options)
    except (StudyError, LakeError, NothingPublished, AuditError, IngestError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130


def _command(options: argparse.Namespace) -> int:
    named = options.study
    # A study file is found from where the command was given, also by the processes it starts elsewhere.
    _export(STUDY_VARIABLE, _absolute(named) if named and named.endswith((".yaml", ".yml")) else named)
    _export(LAKE_VARIABLE, options.lake and _absolute(options.lake))
    _export(ARCHIVE_VARIABLE, options.archive and _absolute(options.archive))
    if options.command in ("run", "read", "ui"):
        _prepare_instance_home()
    if options.command == "dbt":
        return _dbt(options.dbt_arguments)
    if options.command == "plan":
        return _plan(options.phase, options.lock)
    if options.command in ("generate", "extract", "translate"):
        return _paid(options)
    if options.command == "sentences":
        return _sentences(options.source, options.to)
    if options.command == "draw-audit":
        return _draw_audit(options)
    if options.command == "import-labels":
        return _import_labels(options)
    if options.command == "judge":
        return _judge(options)
    if options.command == "translate-debates":
        return _translate_debates(options)
    if options.command == "label":
        return _label(options)
    if options.command == "export-labels":
        counts = export_labels(options.folder, options.to, options.label_studio)
        print(f"{options.to}: {counts['annotations']} annotations; {counts['not_given']} could not be judged.")
        return 0
    if options.command == "export":
        return _export_scores(options.folder)
    if options.command == "import":
        return _import(options)
    act = {
        "run": _run,
        "read": _read,
        "gaps": _gaps,
        "report": _report,
        "dashboard": _dashboard,
        "ui": _ui,
        "sql": _sql,
    }
    return act[options.command]()


def _run() -> int:
    from dagster_project.run import run_study

    return run_study()


def _read() -> int:
    from dagster_project.run import read_parts

    return read_parts()


def _gaps() -> int:
    import duckdb

    from dagster_project.gaps import gaps_table

    warehouse = _published_warehouse()
    try:
        print(gaps_table(warehouse))
    except duckdb.Error as error:
        raise NothingPublished(f"{warehouse} is no warehouse of Reprise: {error}") from error
    return 0


def _report() -> int:
    report = resolve_lake(_study_lake()).study_report
    if not report.is_file():
        raise NothingPublished(f"There is no report at {report}. Run `make demo`, or materialize study_report.")
    print(
        f"{report}\nBeside it: the same in Markdown, and the figures as SVG, PNG and CSV ({report.parent / 'figures'})."
    )
    return 0


def _sql() -> int:
    return subprocess.call([str(Path(sys.executable).with_name("duckdb")), "-readonly", str(_published_warehouse())])


def _draw_audit(options: argparse.Namespace) -> int:
    counts = draw_audit(
        _published_warehouse(),
        options.folder.expanduser().resolve(),
        options.encoder,
        options.languages,
        options.pairs,
        options.turns,
        options.seed,
    )
    print(f"{options.folder}: {counts['pairs']} pairs and {counts['turns']} turns to label.")
    return 0


def _import_labels(options: argparse.Namespace) -> int:
    annotators = dict(named.rpartition("=")[::2] for named in options.annotators)
    counts = import_labels(options.folder, options.exports, annotators, options.round, options.to)
    print(f"{options.to}: {counts['annotations']} annotations; {counts['not_given']} skipped or not to be judged.")
    return 0


def _label(options: argparse.Namespace) -> int:
    folder = Path(_absolute(str(options.folder)))
    if not any((folder / f"{kind}_tasks.json").is_file() for kind in ("pair", "turn")):
        raise AuditError(f"{folder} holds no tasks; draw an audit into it first: reprise draw-audit {options.folder} …")
    page = PROJECT_ROOT / "dashboards" / "labelling" / "app.py"
    served = ["--server.address", options.host, "--server.port", str(options.port)]
    tail = ["--", str(folder), *(["adjudicate"] if options.adjudicate else [])]
    print(f"Each annotator opens http://{options.host}:{options.port} and enters a code. Ctrl-C ends it.", flush=True)
    command = [sys.executable, "-m", "streamlit", "run", str(page), *served, *tail]
    return subprocess.call(command, cwd=PROJECT_ROOT)


def _export_scores(folder: Path) -> int:
    import duckdb

    from dagster_project.export import export_turn_scores

    warehouse = _published_warehouse()
    try:
        written = export_turn_scores(warehouse, Path(_absolute(str(folder))))
    except (duckdb.Error, OSError) as error:
        raise NothingPublished(f"The scores of {warehouse} cannot be written to {folder}: {error}") from error
    print("\n".join(f"{file}: {rows:,} rows" for file, rows in written.items()))
    return 0


def _import(options: argparse.Namespace) -> int:
    from dagster_project.importing import check_same_import, import_into, slug, write_study
    from dagster_project.study import ImportSettings
    from ingest.importers import load_mapping, preview_debates

    is_file = options.mapping.endswith((".yaml", ".yml"))
    settings = ImportSettings(
        mapping=_absolute(options.mapping) if is_file else options.mapping,
        source=_absolute(str(options.source)),
        crosswalk=options.crosswalk and _absolute(str(options.crosswalk)),
    )
    if options.dry_run is not None:
        preview = preview_debates(
            load_mapping(settings.mapping), settings.source, options.dry_run, crosswalk=settings.crosswalk
        )
        print("\n".join(preview.lines()))
        return 0
    name = slug(options.name or settings.source.stem)
    study_file = Path(_absolute(str(options.into or IMPORTS / name))) / "study.yaml"
    check_same_import(study_file, settings)
    study_file.parent.mkdir(parents=True, exist_ok=True)
    report = import_into(resolve_lake(study_file.parent / "lake"), name, settings, _told_on_terminal)
    write_study(study_file, name, settings, report)
    print("\n".join([*report.lines(), "", f"Next: make run STUDY={shlex.quote(str(study_file))}"]))
    return 0


def _told_on_terminal(done: int, total: int) -> None:
    if sys.stderr.isatty() or done == total:
        print(f"\r{done:,} of {total:,} files read", end="\n" if done == total else "", file=sys.stderr, flush=True)


def _dbt(arguments: list[str]) -> int:
    from dagster_project.publish import begin_marts

    lake = resolve_lake(_study_lake())
    project = PROJECT_ROOT / "dbt"
    command = [str(Path(sys.executable).with_name("dbt")), *arguments]
    with lake.writer():
        lake.build.mkdir(parents=True, exist_ok=True)
        if arguments[:1] in (["build"], ["run"], ["seed"]):
            # Changed by hand, the working database is no longer one whole build.
            begin_marts(lake)
        return subprocess.call(
            [*command, "--project-dir", str(project), "--profiles-dir", str(project)],
            # The manifest it leaves is the one that Dagster reads (see warehouse_project.fresh_manifest).
            env=os.environ | {LAKE_VARIABLE: str(lake.root), "DBT_PARTIAL_PARSE": "false"},
        )


def _plan(phases: list[str] | None, lock: bool) -> int:
    from dagster_project.plan_report import plan_report
    from dagster_project.planning import plan_of
    from dagster_project.settings import settings

    plan = plan_of(settings)
    print(plan_report(plan, phases))
    for grid in plan.lock_all(phases) if lock else ():
        print(f"Locked: phase {grid.phase}, {len(grid.items)} items, digest {grid.digest[:12]}.")
    return 0


def _paid(options: argparse.Namespace) -> int:
    """Work that calls models: what it takes first, then each piece of it as it ends. 0 when all of it is there."""
    from dagster_project.generating import Work, triage
    from dagster_project.plan_report import plan_report
    from dagster_project.planning import plan_of
    from dagster_project.settings import settings
    from dagster_project.terminal import Bar

    plan = plan_of(settings)
    work = Work(plan, resolve_lake(settings.lake), Bar, options.spending_cap, study=options.study or settings.name)
    phases = work.phases(options.command, options.phase)
    if options.command == "translate" and (options.export_triage or options.import_triage or options.lock):
        for phase in phases:
            told = triage(plan, phase, export=options.export_triage, imported=options.import_triage, lock=options.lock)
            print("\n".join(told))
        return 0
    print(plan_report(plan, phases))
    if not options.yes and sys.stdin.isatty() and input("\nGo on? [y/N] ").strip().lower() not in ("y", "yes"):
        return 1
    is_complete = True
    outcomes = {
        "generate": lambda: work.generate(phases, restart_partial=options.restart_partial),
        "extract": lambda: work.extract(phases),
        "translate": lambda: work.translate(phases),
    }[options.command]()
    for outcome in outcomes:
        print(outcome.line, flush=True)
        is_complete &= outcome.is_complete
    return 0 if is_complete else 1


@contextmanager
def _calling(options: argparse.Namespace, purpose: str) -> Iterator[tuple[dict[str, Agent], LedgerCaller, Path]]:
    """The declared agents, a caller on the study's ledger, and its records' folder: for work outside its phases."""
    from dagster_project.settings import settings
    from ingest.run.agents import load_agents
    from ingest.run.caller import LedgerCaller
    from ingest.run.ledger import Ledger

    generation = settings.generation
    agents_file = options.agents_file or (generation and generation.agents_file)
    agents = load_agents(Path(_absolute(str(agents_file)))) if agents_file else load_agents()
    named = options.records or (generation and generation.records)
    if named is None:
        raise StudyError("Say where the ledger of calls goes: --records FOLDER. Keep it with the archive.")
    records = Path(_absolute(str(named)))
    with Ledger(records / "ledger.sqlite") as ledger:
        caller = LedgerCaller(ledger, purpose, study=settings.name, spending_cap=options.spending_cap)
        try:
            yield agents, caller, records
        finally:
            caller.close("halted" if caller.halts else "finished")


def _agent(agents: dict[str, Agent], name: str) -> Agent:
    if name not in agents:
        raise StudyError(f"No agent is called {name!r}. Declared: {', '.join(agents)}.")
    return agents[name]


def _judge(options: argparse.Namespace) -> int:
    from dagster_project.judging import INSTRUMENTS, debates_to_judge, high_pairs, pairs_to_judge
    from dagster_project.terminal import Bar
    from ingest.judge import judge_outcomes, judge_pairs

    if options.what == "functions" and not options.encoder:
        raise StudyError("Say whose top decile is looked at: --encoder NAME.")
    warehouse, dest = _published_warehouse(), Path(_absolute(str(options.to)))
    with _calling(options, "judge") as (agents, caller, _):
        judge, number = _agent(agents, options.judge), options.round
        bar = Bar(f"{options.what}, {judge.name}", "answers")
        if options.what == "outcomes":
            debates, names = debates_to_judge(warehouse, options.languages, options.number, options.seed)
            known = {one.name for one in agents.values()} | {one.model for one in agents.values()} | names.agents
            report = judge_outcomes(
                debates,
                judge,
                number,
                caller,
                dest,
                names=known,
                conditions=names.conditions,
                n_turns=options.turns,
                progress=bar,
            )
        else:
            if options.what == "pairs":
                pairs = pairs_to_judge(warehouse, options.plan)
            else:
                pairs = high_pairs(warehouse, options.encoder, options.languages, options.number or 100, options.seed)
            report = judge_pairs(pairs, INSTRUMENTS[options.what], judge, number, caller, dest, bar)
    print(f"{dest / 'judgments.jsonl'}: {report.n_answers:,} of {report.n_items:,} judged.")
    for item, why in report.refused.items():
        print(f"  not sent: {item}: {why}.")
    for kind, count in report.failed.items():
        print(f"  without an answer: {count:,} {kind} (the page Runs shows what was said).")
    for line in report.halts:
        print(f"  {line} To go on, give the same command again.")
    return 0 if report.n_waiting == 0 else 1


def _translate_debates(options: argparse.Namespace) -> int:
    from dagster_project.settings import settings
    from dagster_project.terminal import Bar
    from ingest.translate import GoogleTranslator, ModelTranslator, translate_debates

    reference, language = settings.reference_language, options.language
    with _calling(options, "translate") as (agents, caller, records):
        if options.translator == "google":
            into, out_of = (GoogleTranslator(records / "google.jsonl", source) for source in (reference, language))
        else:
            agent = _agent(agents, options.translator)
            into, out_of = (
                ModelTranslator(agent, caller, source, task="translate_speech") for source in (reference, language)
            )
        report = translate_debates(
            settings.archive,
            Path(_absolute(str(options.to))),
            into,
            out_of,
            language=language,
            reference_language=reference,
            condition=options.condition or settings.baseline_condition,
            motions=options.motions,
            progress=Bar("translating", "speeches"),
        )
    print(f"{options.to}: {report.n_translated:,} debates translated, {report.n_round_trip:,} sent there and back.")
    if report.unpaired:
        print(f"  without a partner, left out: {', '.join(report.unpaired)}.")
    for session, why in report.problems.items():
        print(f"  not translated: {session}: {why}")
    return 1 if report.problems else 0


def _sentences(source: Path, dest: Path) -> int:
    from ingest.extract import extract_sentences, read_speeches

    count = extract_sentences(read_speeches(Path(_absolute(str(source)))), Path(_absolute(str(dest))))
    print(f"{dest / 'extractions.jsonl'}: {count:,} speeches taken apart by sentence.")
    return 0


def _dollars(text: str) -> Decimal:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no amount of dollars; write 25 or 2.50")
    return amount


def _ui() -> int:
    _read()
    return subprocess.call([str(Path(sys.executable).with_name("dagster")), "dev"], cwd=PROJECT_ROOT)


def _dashboard() -> int:
    app = PROJECT_ROOT / "dashboards" / "app.py"
    return subprocess.call(
        [sys.executable, "-m", "streamlit", "run", str(app)],
        cwd=PROJECT_ROOT,
        env=os.environ | {LAKE_VARIABLE: str(resolve_lake(_study_lake()).root)},
    )


def _study_lake() -> Path | None:
    from dagster_project.settings import settings

    return settings.lake


def _absolute(path: str) -> str:
    # Links are followed, and faults in them told, where the path is used.
    try:
        return os.path.abspath(Path(path).expanduser())  # noqa: PTH100
    except RuntimeError as error:
        raise LakeError(f"{path!r} is no path that can be followed: {error} Write it out.") from error


def _export(variable: str, value: str | None) -> None:
    if value:
        os.environ[variable] = value


def _prepare_instance_home() -> None:
    """Runs from the command line are recorded where the UI looks: beside the lake that they work on."""
    lake = resolve_lake(_study_lake())
    lake.make()
    own = lake.root / ".dagster_home"
    named = os.environ.get(HOME_VARIABLE) or own
    try:
        home = Path(named).expanduser().resolve()
        home.mkdir(parents=True, exist_ok=True)
        # A home that somebody else set up keeps its settings.
        if home == own or not (home / "dagster.yaml").exists():
            shutil.copyfile(PROJECT_ROOT / "dagster_project" / "dagster.yaml", home / "dagster.yaml")
    except (OSError, RuntimeError, ValueError) as error:
        remedy = "Make it writable" if named == own else f"Set {HOME_VARIABLE} to another folder, or unset it"
        raise LakeError(f"The folder of Dagster's records, {named}, cannot be used: {error}. {remedy}.") from error
    os.environ[HOME_VARIABLE] = str(home)


def _published_warehouse() -> Path:
    warehouse = resolve_lake(_study_lake()).warehouse
    if not warehouse.is_file():
        raise NothingPublished(f"There is no published warehouse at {warehouse}. Run `make demo` first.")
    return warehouse


if __name__ == "__main__":
    sys.exit(main())
