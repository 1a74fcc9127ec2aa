"""Asset checks: what each expects of a room's report, and when it stops the study. The policy is docs/policies.md."""

from collections.abc import Collection, Mapping
from pathlib import Path

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dagster_project.generating import Outcome
from dagster_project.study import Study
from ingest.archive import SnapshotReport, TableCounts
from ingest.archive.parts import KNOWN_FILES
from ingest.archive.schemas import REQUIRED_TABLES
from ingest.importers import UNREADABLE, ImportReport
from ingest.judge import JudgmentReport
from ingest.parse import ParseReport

SHOWN_ROWS = 20

FILES_KNOWN = dg.AssetCheckSpec(
    "files_known", asset="archive", description="Every data file of the archive's folder has a name that is read."
)
FILES_READABLE = dg.AssetCheckSpec(
    "files_readable", asset="archive", blocking=True, description="Every file can be read to its end."
)
ARCHIVE_PRESENT = dg.AssetCheckSpec(
    "archive_present",
    asset="archive",
    blocking=True,
    description="There are sessions, turns and extractions to analyse.",
)
NO_REJECTS = dg.AssetCheckSpec(
    "no_rejects", asset="archive", blocking=True, description="Every record of the archive can be used."
)
SESSIONS_COMPLETE = dg.AssetCheckSpec(
    "sessions_complete",
    asset="archive",
    blocking=True,
    description="Every session has all turns of the template, or says that it is complete.",
)
CELLS_DISTINCT = dg.AssetCheckSpec(
    "cells_distinct",
    asset="archive",
    description="No two sessions share motion, language, condition and repeat; such sessions are averaged.",
)
TURNS_FOLLOW_TEMPLATE = dg.AssetCheckSpec(
    "turns_follow_template", asset="archive", description="Every turn has the phase, role and side of its place."
)
REFERENCE_PRESENT = dg.AssetCheckSpec(
    "reference_present",
    asset="archive",
    description="There are debates in the reference language and under the baseline condition.",
)
MOTIONS_PAIRED = dg.AssetCheckSpec(
    "motions_paired",
    asset="archive",
    description="Languages share motions with the reference language, and conditions with the baseline.",
)
EXTRACTIONS_COVER_TURNS = dg.AssetCheckSpec(
    "extractions_cover_turns", asset="archive", description="Every turn has the answer of an extractor."
)
ARGUMENTS_PRESENT = dg.AssetCheckSpec(
    "arguments_present", asset="argument_units", blocking=True, description="At least one answer holds argument units."
)
GROUPINGS_PRESENT = dg.AssetCheckSpec(
    "groupings_present",
    asset="group_gaps",
    description="Every grouping of the study is an attribute of some turn, and its reference group is there.",
)
SOURCE_READ = dg.AssetCheckSpec(
    "source_read",
    asset="imported_archive",
    blocking=True,
    description="Every file and record of the source that the mapping names can be read.",
)
CLAIMS_PLACED = dg.AssetCheckSpec(
    "claims_placed", asset="imported_archive", description="Every claim of the source is in a turn."
)
MOTIONS_TRANSLATED = dg.AssetCheckSpec(
    "motions_translated",
    asset="motion_translations",
    description="Every motion has a text and a review in each language.",
)
DEBATES_COMPLETE = dg.AssetCheckSpec(
    "debates_complete",
    asset="debates",
    description="Every planned debate has all its turns, of one model build a seat.",
)
SPEECHES_EXTRACTED = dg.AssetCheckSpec(
    "speeches_extracted", asset="extractions", description="Every speech was put to every extractor."
)
ANSWERS_PARSED = dg.AssetCheckSpec(
    "answers_parsed", asset="argument_units", description="Every extractor answer holds argument units."
)
JUDGMENTS_PARSED = dg.AssetCheckSpec(
    "judgments_parsed", asset="judgments", description="Every judge's answer says what it was asked for."
)


def work_done(check: dg.AssetCheckSpec, outcomes: Collection[Outcome]) -> dg.AssetCheckResult:
    """Whether paid work is all done; what is left is told with the command that goes on, and stops nothing."""
    left = [outcome.line for outcome in outcomes if not outcome.is_complete]
    return _result(check, left, dg.AssetCheckSeverity.WARN)


def archive_checks(
    report: SnapshotReport, directory: Path, study: Study, not_read: Collection[str]
) -> list[dg.AssetCheckResult]:
    """What the archive as a whole must satisfy before anything is derived from it.

    `directory` holds the tables that `report` is about; `not_read` names the folder's files that are not in it.
    """
    error, warning = dg.AssetCheckSeverity.ERROR, dg.AssetCheckSeverity.WARN
    rejects = directory / "rejects.parquet"
    integrity = directory / "integrity.parquet"
    core = pc.field("table_name").isin(REQUIRED_TABLES)
    # The reject of a file that cannot be read to its end has no line number.
    whole_file = pc.field("line").is_null()
    return [
        _result(
            ARCHIVE_PRESENT,
            _details(integrity, pc.field("rule").isin(["empty_file", "no_records", "no_sessions"])),
            error,
        ),
        _result(
            FILES_KNOWN,
            [f"{name} is not read." for name in not_read],
            warning,
            remedy=f"Files that are read: {', '.join(KNOWN_FILES.values())}, JSON Lines also as .jsonl.gz.",
        ),
        _result(
            FILES_READABLE,
            [*_details(rejects, whole_file & core), *_details(rejects, whole_file & ~core)],
            error if _details(rejects, whole_file & core) else warning,
        ),
        _rejects_result(_details(rejects, ~whole_file & core), _details(rejects, ~whole_file & ~core), study),
        _result(
            SESSIONS_COMPLETE,
            _details(integrity, pc.field("rule").isin(["missing_turns", "said_incomplete"])),
            error if study.incomplete_sessions == "refuse" else warning,
            remedy=_OF_INCOMPLETE_SESSIONS[study.incomplete_sessions],
        ),
        _result(CELLS_DISTINCT, _details(integrity, pc.field("rule") == "shared_cell"), warning),
        _result(TURNS_FOLLOW_TEMPLATE, _noted(report, "unknown_turn_term", "turn_differs_from_template"), warning),
        _result(REFERENCE_PRESENT, _absent_references(report, study), warning),
        _result(MOTIONS_PAIRED, _unpaired(directory / "sessions.parquet", study), warning),
        _result(EXTRACTIONS_COVER_TURNS, _noted(report, "turn_without_extraction"), warning),
    ]


_OF_INCOMPLETE_SESSIONS = {
    "refuse": "Mend the archive, or set `incomplete_sessions: exclude` (or `include`) in the study.",
    "exclude": "Left out of the analysis, as the study says.",
    "include": "In the analysis with the turns they have, as the study says.",
}


def _rejects_result(core: list[str], other: list[str], study: Study) -> dg.AssetCheckResult:
    """Rejects of the core tables stop the study unless it accepts them; without the others it can be measured."""
    refused = bool(core) and study.rejects == "refuse"
    return _result(
        NO_REJECTS,
        [*core, *other],
        dg.AssetCheckSeverity.ERROR if refused else dg.AssetCheckSeverity.WARN,
        remedy="Mend the archive, or set `rejects: accept` in the study to go on without these records."
        if refused
        else "The study goes on without them.",
    )


def _noted(report: SnapshotReport, *codes: str) -> list[str]:
    return [note.detail for code in codes for note in report.notes if note.code == code]


def _absent_references(report: SnapshotReport, study: Study) -> list[str]:
    """What the study compares with and the archive lacks, with what is lost by it."""
    languages = {language for language, _ in report.sessions}
    conditions = {condition for _, condition in report.sessions}
    absent = []
    if report.sessions and study.reference_language not in languages:
        absent.append(
            f"No session is in the reference language {study.reference_language}, so there are no language gaps "
            f"(there are sessions in {', '.join(sorted(languages))}); set `reference_language` in the study."
        )
    if report.sessions and study.baseline_condition not in conditions:
        absent.append(
            f"No session has the baseline condition {study.baseline_condition}, so there are no condition effects "
            f"(there are {', '.join(sorted(conditions))}); set `baseline_condition` in the study."
        )
    return absent


def _unpaired(sessions: Path, study: Study) -> list[str]:
    """Contrasts that no motion has both sides of, with what would give them one."""
    rows = pq.read_table(sessions, columns=["motion_id", "language", "condition"]).to_pylist()
    reference, baseline = study.reference_language, study.baseline_condition
    in_language = {row["language"]: set() for row in rows}
    under_condition = {row["condition"]: set() for row in rows}
    for row in rows:
        in_language[row["language"]].add((row["motion_id"], row["condition"]))
        under_condition[row["condition"]].add((row["motion_id"], row["language"]))
    unpaired = []
    for language, motions in sorted(in_language.items()):
        if reference in in_language and language != reference and motions.isdisjoint(in_language[reference]):
            unpaired.append(
                f"No motion has debates in both {language} and {reference}, so there is no language gap of {language}; "
                "if they are the same motions under several ids, pair them with a crosswalk."
            )
    for condition, motions in sorted(under_condition.items()):
        if baseline in under_condition and condition != baseline and motions.isdisjoint(under_condition[baseline]):
            unpaired.append(
                f"No motion has debates under both {condition} and {baseline} in one language, so there is no effect "
                f"of {condition}."
            )
    return unpaired


def refusals(results: Collection[dg.AssetCheckResult]) -> list[str]:
    """The findings of the checks that stop the study."""
    return [
        f"{result.check_name}: {result.description}"
        for result in results
        if not result.passed and result.severity == dg.AssetCheckSeverity.ERROR
    ]


def arguments_present(report: ParseReport) -> dg.AssetCheckResult:
    """Stops the study when there is nothing to measure."""
    found = [] if report.n_arguments else [f"None of {report.n_extractions:,} answers holds an argument unit."]
    remedy = "See the reasons in the metadata of answers_parsed and the raw answers in the archive's extractions."
    return _result(ARGUMENTS_PRESENT, found, dg.AssetCheckSeverity.ERROR, remedy)


def source_read(report: ImportReport, study: Study) -> dg.AssetCheckResult:
    """Stops the study when a part of the source cannot be read, unless the study accepts to go on without it."""
    found = [
        f"{example.file} {example.place}".strip() + f": {example.detail}"
        for kind in UNREADABLE
        for example in report.examples.get(kind, ())
    ]
    severity = dg.AssetCheckSeverity.ERROR if study.rejects == "refuse" else dg.AssetCheckSeverity.WARN
    remedy = "Mend the source or the mapping, or set `rejects: accept` in the study to go on without it."
    return _result(SOURCE_READ, found, severity, remedy)


def groupings_present(group_similarity: pa.Table, study: Study) -> dg.AssetCheckResult:
    """Warns about groupings that nothing can be grouped by, and about references that are not there."""
    present: dict[str, set[str]] = {attribute: set() for attribute in study.groupings}
    for row in group_similarity.select(["attribute", "value"]).to_pylist():
        present[row["attribute"]].add(row["value"])
    found = []
    for attribute, reference in study.groupings.items():
        if not present[attribute]:
            found.append(f"No turn with a similarity has the attribute {attribute}.")
        elif reference is not None and reference not in present[attribute]:
            known = ", ".join(sorted(present[attribute]))
            found.append(f"No turn with a similarity has {attribute} {reference!r}; there are {known}.")
    return _result(GROUPINGS_PRESENT, found, dg.AssetCheckSeverity.WARN)


def claims_placed(report: ImportReport) -> dg.AssetCheckResult:
    """Warns about claims that are in no turn: they are in no prior pool."""
    n_unplaced = report.claims.get("unplaced", 0)
    description = f"{n_unplaced:,} of {report.n_claims:,} claims are in no turn; they are kept out of every prior pool."
    return _result(CLAIMS_PLACED, [description] if n_unplaced else [], dg.AssetCheckSeverity.WARN)


def answers_parsed(report: ParseReport) -> dg.AssetCheckResult:
    """Warns about unparseable answers: their turns have no similarity, and say so."""
    return _all_read(
        ANSWERS_PARSED, report, f"{report.n_failed:,} of {report.n_extractions:,} answers cannot be parsed"
    )


def judgments_parsed(report: JudgmentReport) -> dg.AssetCheckResult:
    """Warns about answers of judges that cannot be read: they are rows with a reason, and no figure counts them."""
    return _all_read(
        JUDGMENTS_PARSED, report, f"{report.n_failed:,} of {report.n_judgments:,} judgments cannot be read"
    )


def counts_metadata(tables: Mapping[str, TableCounts]) -> dg.MetadataValue:
    """The fate of every record, by table, as a Markdown table."""
    lines = ["| table | read | kept | duplicate | rejected | left out |", "|---|--:|--:|--:|--:|--:|"]
    for name, counts in tables.items():
        lines.append(
            f"| {name} | {counts.read:,} | {counts.kept:,} | {counts.duplicate:,} | {counts.rejected:,} "
            f"| {counts.left_out:,} |"
        )
    return dg.MetadataValue.md("\n".join(lines))


def _all_read(spec: dg.AssetCheckSpec, report: ParseReport | JudgmentReport, failed: str) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        check_name=spec.name,
        passed=report.n_failed == 0,
        severity=dg.AssetCheckSeverity.WARN,
        description=failed + (f" ({_counted(report.reasons)})" if report.reasons else "") + ".",
        metadata={"reasons": dict(report.reasons), "labels": dict(report.labels)},
    )


def _result(
    spec: dg.AssetCheckSpec,
    details: Collection[str],
    severity: dg.AssetCheckSeverity,
    remedy: str = "",
) -> dg.AssetCheckResult:
    shown = list(details)[:SHOWN_ROWS]
    more = len(details) - len(shown)
    more_like_it = f"{len(details) - 1:,} more." if len(details) > 1 else ""
    description = " ".join(filter(None, [*shown[:1], more_like_it, remedy if details else ""]))
    return dg.AssetCheckResult(
        check_name=spec.name,
        passed=not details,
        severity=severity,
        description=description or spec.description,
        metadata={"found": len(details), "first": [*shown, *([f"and {more:,} more"] if more else [])]},
    )


def _details(file: Path, where: pc.Expression | None = None) -> list[str]:
    """The sentences of a rejects or integrity table, each with its place."""
    table = pq.read_table(file, filters=where)
    return [
        _sentence(row) for row in table.drop_columns([n for n in ("raw_line",) if n in table.column_names]).to_pylist()
    ]


def _sentence(row: Mapping[str, object]) -> str:
    if "file" not in row:
        return str(row["detail"])
    line = f" line {row['line']}" if row["line"] is not None else ""
    record = f" ({row['record_id']})" if row["record_id"] else ""
    return f"{row['file']}{line}{record}: {row['detail']}"


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())
