"""From archive files to argument units: the study, its archive's parts, the archive as a whole, the parsed answers."""

import hashlib
from pathlib import Path

import dagster as dg
import pyarrow.parquet as pq

import ingest
from dagster_project import checks
from dagster_project.failures import told_plainly
from dagster_project.lake import Lake
from dagster_project.partitions import archive_parts, register_parts
from dagster_project.progress import reporter
from dagster_project.study import Study, study_table
from ingest.archive import Part, PartReport, Selection, build_snapshot, files_not_read, find_parts, read_part
from ingest.errors import ArchiveError
from ingest.parse import parse_extractions
from ingest.reference import write_reference

FINGERPRINT = "fingerprint"
# In an archive that a blocking check has refused: what follows must not be derived from it, in whichever run.
REFUSED = "refused"


@dg.asset(group_name="study", kinds={"yaml", "parquet"})
def study(lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]) -> dg.MaterializeResult:
    """The study's settings and the reference lists (languages, turns, argument types), as tables that SQL can join."""
    with lake.replace("study") as directory:
        table = study_table(settings)
        pq.write_table(table, directory / "study.parquet")
        write_reference(directory)
    return dg.MaterializeResult(metadata={"settings": dg.MetadataValue.json(table.to_pylist()[0])})


@dg.asset(group_name="archive", kinds={"json", "parquet"}, partitions_def=archive_parts)
def archive_part(
    context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]
) -> dg.MaterializeResult:
    """One folder of archive files, read line by line into typed tables and rejects. One row per record."""
    with told_plainly():
        report = _read(_part(settings, context.partition_key), lake, context)
    return dg.MaterializeResult(metadata=_part_metadata(report))


@dg.asset(
    deps=[study, archive_part],
    group_name="archive",
    kinds={"parquet"},
    check_specs=[
        checks.ARCHIVE_PRESENT,
        checks.FILES_KNOWN,
        checks.FILES_READABLE,
        checks.NO_REJECTS,
        checks.SESSIONS_COMPLETE,
        checks.CELLS_DISTINCT,
        checks.TURNS_FOLLOW_TEMPLATE,
        checks.REFERENCE_PRESENT,
        checks.MOTIONS_PAIRED,
        checks.EXTRACTIONS_COVER_TURNS,
    ],
)
def archive(
    context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Study]
) -> dg.MaterializeResult:
    """All parts together after the rules that need several records: duplicates, orphans, incomplete sessions.

    One row per motion text, session, turn, extraction, annotation and judgment, in a table each. A part whose files
    are new or changed is read first, so that the whole study is one run whichever parts have arrived.
    """
    with told_plainly():
        parts = find_parts(settings.archive)
        for name in register_parts(context.instance, [part.name for part in parts]):
            context.log.warning(f"part {name} is gone from {settings.archive}: its records are no longer used")
        for part in parts:
            if not _is_read(part, lake):
                metadata = _part_metadata(_read(part, lake, context))
                context.log_event(dg.AssetMaterialization(archive_part.key, partition=part.name, metadata=metadata))
        with lake.replace("archive") as directory:
            report = build_snapshot(
                [lake.table(_part_table(part)) for part in parts],
                directory,
                _selection(settings),
                protocol=settings.protocol,
                progress=reporter(context.log, "checking the archive", "records"),
            )
            results = checks.archive_checks(report, directory, settings, files_not_read(settings.archive, parts))
            refusals = checks.refusals(results)
            if refusals:
                (directory / REFUSED).write_text("\n".join(refusals), encoding="utf-8")
    return dg.MaterializeResult(
        metadata={
            "records": checks.counts_metadata(report.tables),
            "sessions": {f"{language}, {condition}": count for (language, condition), count in report.sessions.items()},
            "rejects": dict(report.rejects),
            "left_out": {table: dict(reasons) for table, reasons in report.left_out.items()},
            "notes": [note.detail for note in report.notes],
            "rejects_table": dg.MetadataValue.path(lake.table("archive") / "rejects.parquet"),
        },
        check_results=results,
    )


@dg.asset(
    deps=[archive],
    group_name="archive",
    kinds={"parquet"},
    check_specs=[checks.ARGUMENTS_PRESENT, checks.ANSWERS_PARSED],
)
def argument_units(context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]) -> dg.MaterializeResult:
    """The extractors' answers as argument units, or as failures with a reason. One row per argument and extractor."""
    with told_plainly(), lake.replace("argument_units") as directory:
        usable = accepted(lake.table("archive"))
        report = parse_extractions(usable, directory, reporter(context.log, "parsing answers", "answers"))
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": report.n_arguments,
            "answers": report.n_extractions,
            "failures": report.n_failed,
            "blank_claims": report.n_blank_claims,
        },
        check_results=[checks.arguments_present(report), checks.answers_parsed(report)],
    )


def _part(settings: Study, name: str) -> Part:
    parts = {part.name: part for part in find_parts(settings.archive)}
    if name not in parts:
        raise ArchiveError(
            settings.archive,
            f"has no part '{name}' (it has {', '.join(parts)})",
            "Put the folder back, or delete the partition in the UI",
        )
    return parts[name]


def _part_table(part: Part) -> str:
    return f"archive_parts/{part.name}"


def _read(part: Part, lake: Lake, context: dg.AssetExecutionContext) -> PartReport:
    with lake.replace(_part_table(part)) as directory:
        # Taken before the reading: a file that changes meanwhile makes the part count as changed.
        fingerprint = _fingerprint(part)
        report = read_part(part, directory, reporter(context.log, f"reading {part.name}", "bytes"))
        (directory / FINGERPRINT).write_text(fingerprint)
    return report


def accepted(directory: Path) -> Path:
    """`directory`, an archive's, unless its checks have refused it. Raises ArchiveError with their findings."""
    if (directory / REFUSED).exists():
        reasons = (directory / REFUSED).read_text(encoding="utf-8")
        raise ArchiveError(
            directory,
            f"was refused by its checks: {reasons}",
            "Mend the files and materialize the asset archive again",
        )
    return directory


def _is_read(part: Part, lake: Lake) -> bool:
    if not lake.is_whole(_part_table(part)):
        return False
    recorded = lake.table(_part_table(part)) / FINGERPRINT
    return recorded.exists() and recorded.read_text() == _fingerprint(part)


def _fingerprint(part: Part) -> str:
    """What a part's tables depend on: the bytes of its files and the code that reads them."""
    room = Path(ingest.__file__).parent
    code = hashlib.sha256(b"\0".join(file.read_bytes() for file in sorted(room.rglob("*.py")))).hexdigest()
    return f"{part.fingerprint()} {code}"


def _part_metadata(report: PartReport) -> dict[str, dg.MetadataValue]:
    return {
        "records": checks.counts_metadata(report.tables),
        "rejects": dg.MetadataValue.json(dict(report.rejects)),
        "unknown_fields": dg.MetadataValue.json({table: dict(names) for table, names in report.unknown_fields.items()}),
        "files_not_read": dg.MetadataValue.json(list(report.other_files)),
    }


def _selection(settings: Study) -> Selection:
    chosen = {name: getattr(settings, name) for name in ("motions", "languages", "conditions", "extractors")}
    return Selection(**{name: frozenset(values) if values else None for name, values in chosen.items()})
