"""A human audit: draw what people label from a published warehouse, and bring their labels back as annotations."""

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from dagster_project.estimators.sampling import sample_pairs, sample_turns
from ingest.label import (
    EXTRACTION_CONFIG,
    REPETITION_CONFIG,
    LabelError,
    LabelStore,
    annotations_of_results,
    as_results,
    extraction_tasks,
    repetition_tasks,
    write_annotations,
)
from ingest.label.store import FILE as LABELS_FILE
from ingest.whole_file import whole_file

PLANS = ("pairs", "turns")

# People read the baseline of the sessions that are analysed, as the primary extractor took it apart.
_SESSIONS = """
from marts.sessions join marts.study on study.baseline_condition = sessions.condition
where sessions.in_analysis and list_contains($languages, sessions.language)
"""
_PAIRS = f"""
select pairs.argument_id, pairs.nearest_argument_id, pairs.language, pairs.similarity
from marts.max_prior_pairs as pairs
join marts.study on study.primary_extractor = pairs.extractor
where pairs.encoder = $encoder and pairs.field = 'claim' and pairs.similarity is not null
    and pairs.session_id in (select sessions.session_id {_SESSIONS})
"""
_TURNS = f"""
select session_id, turn_index, language, text from marts.turns
where n_arguments > 0 and session_id in (select sessions.session_id {_SESSIONS})
"""
_ARGUMENTS = f"""
select argument_id, session_id, turn_index, claim, warrant, evidence_or_example
from marts.arguments join marts.study on study.primary_extractor = arguments.extractor
where session_id in (select sessions.session_id {_SESSIONS})
order by session_id, turn_index, argument_index
"""


class AuditError(RuntimeError):
    """An audit that cannot be drawn or read; the message says what to do."""


def draw_audit(
    warehouse: Path,
    directory: Path,
    encoder: str,
    languages: Sequence[str],
    pairs_per_stratum: int,
    turns_per_language: int,
    seed: int,
) -> dict[str, int]:
    """Writes a plan into the new `directory`, and returns how many pairs and turns it asks about.

    The plan is pairs.parquet and turns.parquet (with the same as CSV), which stay with the researcher; pair_tasks.json
    and turn_tasks.json with their labelling configurations in XML go to Label Studio and say nothing about similarity,
    agent or condition. plan.json holds what it was drawn from and how. Raises AuditError when `directory` exists,
    because labels belong to a plan, or when the warehouse has no such pairs.
    """
    if directory.exists():
        raise AuditError(f"{directory} exists; labels belong to their plan, so give the new one a folder of its own.")
    with duckdb.connect(warehouse, read_only=True) as database:
        chosen = {"languages": list(languages)}
        pairs = database.sql(_PAIRS, params=chosen | {"encoder": encoder}).to_arrow_table()
        turns = database.sql(_TURNS, params=chosen).to_arrow_table()
        arguments = database.sql(_ARGUMENTS, params=chosen).to_arrow_table().to_pylist()
        (build,) = database.execute("select build_id from meta.build").fetchone()
        (encoders,) = database.execute("select encoders from marts.study").fetchone()
    if not pairs.num_rows:
        raise AuditError(
            f"The warehouse has no baseline pairs of {encoder} in {', '.join(languages)}; "
            f"its encoders are {', '.join(encoders)}."
        )
    pair_plan = sample_pairs(pairs, pairs_per_stratum, seed)
    turn_plan = sample_turns(turns.drop_columns("text"), turns_per_language, seed)
    claims = {row["argument_id"]: row["claim"] for row in arguments}
    units: dict[tuple[str, int], list[str]] = {}
    for row in arguments:
        parts = (row["claim"], row["warrant"], row["evidence_or_example"])
        units.setdefault((row["session_id"], row["turn_index"]), []).append("\n".join(part for part in parts if part))
    speeches = {(row["session_id"], row["turn_index"]): row["text"] for row in turns.to_pylist()}

    directory.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{directory.name}-", dir=directory.parent))
    try:
        _write_plan(draft, "pairs", pair_plan, repetition_tasks(pair_plan.to_pylist(), claims), REPETITION_CONFIG)
        _write_plan(
            draft, "turns", turn_plan, extraction_tasks(turn_plan.to_pylist(), speeches, units), EXTRACTION_CONFIG
        )
        settings = {
            "build_id": build,
            "encoder": encoder,
            "languages": list(languages),
            "pairs_per_stratum": pairs_per_stratum,
            "turns_per_language": turns_per_language,
            "seed": seed,
        }
        (draft / "plan.json").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
        draft.chmod(0o755)
        draft.replace(directory)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return {"pairs": pair_plan.num_rows, "turns": turn_plan.num_rows}


def import_labels(
    directory: Path, exports: Sequence[Path], annotators: Mapping[str, str], number: int, destination: Path
) -> dict[str, int]:
    """Label Studio's JSON `exports` of the plan in `directory` as the annotations.csv `destination`.

    Returns how many annotations were written, and how many tasks were skipped or could not be judged. Raises LabelError
    or AuditError, and writes nothing, when an export does not fit.
    """
    plans = {row["task_id"]: name for name in PLANS for row in _plan(directory, name)}
    results: dict[str, list[dict]] = {name: [] for name in PLANS}
    for export in exports:
        try:
            tasks = json.loads(export.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise AuditError(f"{export} cannot be read as JSON ({error}); export the project as JSON again.") from error
        for task in tasks:
            task_id = task.get("data", {}).get("task_id")
            if task_id not in plans:
                raise LabelError(f"{export}: task {task_id!r} is not in the plan {directory}; name the plan it is of")
            results[plans[task_id]].append(task)
    rows, not_given = [], 0
    for name in PLANS:
        given, skipped = annotations_of_results(_plan(directory, name), results[name], annotators, number)
        rows += given
        not_given += skipped
    return {"annotations": write_annotations(destination, rows), "not_given": not_given}


def export_labels(directory: Path, destination: Path, label_studio: Path | None = None) -> dict[str, int]:
    """The answers that people gave on the labelling page as the annotations.csv `destination`.

    Both rounds are in it: labelled alone, and settled. With `label_studio`, round 1 is also written as Label Studio
    exports it. Returns how many annotations were written, and how many tasks could not be judged. Raises AuditError
    for a folder without answers.
    """
    if not (directory / LABELS_FILE).is_file():
        raise AuditError(f"{directory} holds no answers yet; label first: reprise label {directory}.")
    store = LabelStore(directory)
    rows, not_given = [], 0
    for number in (1, 2):
        given = store.all(number)
        codes = {one.annotator: one.annotator for one in given}
        for name in PLANS:
            plan = _plan(directory, name)
            tasks = {row["task_id"] for row in plan}
            of_plan = [one for one in given if one.task_id in tasks]
            found, skipped = annotations_of_results(plan, as_results(of_plan), codes, number)
            rows += found
            not_given += skipped
    if label_studio is not None:
        results = json.dumps(as_results(store.all(1)), ensure_ascii=False, indent=2)
        with whole_file(label_studio) as file:
            file.write(results + "\n")
    return {"annotations": write_annotations(destination, rows), "not_given": not_given}


def _write_plan(draft: Path, name: str, plan: pa.Table, tasks: list[dict], config: str) -> None:
    pq.write_table(plan, draft / f"{name}.parquet")
    pyarrow.csv.write_csv(plan, draft / f"{name}.csv")
    singular = name.removesuffix("s")
    (draft / f"{singular}_tasks.json").write_text(
        json.dumps(tasks, ensure_ascii=False, indent=2) + "\n", encoding="utf-8"
    )
    (draft / f"{singular}_labels.xml").write_text(config, encoding="utf-8")


def _plan(directory: Path, name: str) -> list[dict]:
    file = directory / f"{name}.parquet"
    if not file.exists():
        raise AuditError(f"{directory} holds no plan ({file.name} is missing); name the folder that was drawn into.")
    return pq.read_table(file).to_pylist()
