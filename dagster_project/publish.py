"""Publishing: a finished build becomes the file that people open, in one atomic step and only when it differs."""

import hashlib
import importlib.metadata
import json
import os
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from dagster_project.lake import Lake

PUBLISHED_SCHEMAS = ("marts", "reports")

# What the marts are built from, and what the reports add, by their names in the lake.
BUILT_FROM = (
    "study",
    "archive",
    "argument_units",
    "max_prior_pairs",
    "null_maxima",
    "judgments",
    "pair_scores",
    "ledger",
)
ESTIMATES = (
    "gap_estimates",
    "group_gaps",
    "regression_estimates",
    "tail_rates",
    "encoder_agreement",
    "repeat_noise",
    "subset_gap_estimates",
    "output_volume",
    "decoding_estimates",
    "translation_estimates",
    "agreement",
    "extraction_audit_rates",
    "instrument_alignment",
    "calibration",
    "outcome_associations",
)
# Notes beside the working database: what its marts were built from, and that all of it was built.
MARTS = "marts.json"
WHOLE = "whole.json"


class IncompleteBuild(RuntimeError):
    """The working database is not one whole build of what the lake holds, or lacks a relation of the dbt project."""


@dataclass(frozen=True)
class Relation:
    """A table or view of the dbt project, as it is named in the warehouse."""

    schema: str
    name: str


@dataclass(frozen=True)
class Build:
    """A published build. `rows` counts by table; `changed` is False when this content was published already."""

    path: Path
    build_id: str
    changed: bool
    rows: dict[str, int]


def publish_build(lake: Lake, relations: Collection[Relation]) -> Build:
    """Publish the working database of `lake`, reduced to `relations`.

    The content digest covers every published table, view and comment, but not when they were built: a build equal to
    the published one changes nothing. Raises IncompleteBuild, and publishes nothing, when a relation is missing or the
    build is not of what the lake now holds: a mixture of two states is worse than an old one.
    """
    _require_whole(lake)
    lake.published.mkdir(parents=True, exist_ok=True)
    for abandoned in lake.published.glob(".draft*"):
        abandoned.unlink()
    draft = lake.published / f".draft-{os.getpid()}.duckdb"
    _copy_build(lake.build_warehouse, draft)
    with duckdb.connect(draft) as database:
        _keep_only(database, relations)
        rows = {
            f"{schema}.{name}": database.sql(f"select count(*) from {_quoted(schema)}.{_quoted(name)}").fetchall()[0][0]
            for schema, name in database.sql(
                "select schema_name, table_name from duckdb_tables() order by all"
            ).fetchall()
        }
        digest = content_digest(database)
        changed = digest != _published_digest(lake)
        if changed:
            _describe(database, lake, digest)
    if not changed:
        draft.unlink()
        return Build(lake.warehouse.resolve(), digest[:16], changed=False, rows=rows)
    return Build(lake.publish(draft, digest), digest[:16], changed=True, rows=rows)


def begin_build(lake: Lake) -> None:
    """Note that the working database is being changed; until `finish_build` it cannot be published."""
    lake.build.mkdir(parents=True, exist_ok=True)
    (lake.build / WHOLE).unlink(missing_ok=True)


def begin_marts(lake: Lake) -> None:
    """The same for the marts, which reports and estimates stand on."""
    begin_build(lake)
    (lake.build / MARTS).unlink(missing_ok=True)


def finish_marts(lake: Lake) -> None:
    """Note which state of the lake the marts were built from, all of them in one step."""
    (lake.build / MARTS).write_text(json.dumps({name: lake.digest(name) for name in BUILT_FROM}), encoding="utf-8")


def finish_build(lake: Lake) -> None:
    """Note that reports and estimates stand on the marts, all of them built in one step: it can be published."""
    marts = lake.build / MARTS
    if marts.exists():
        inputs = json.loads(marts.read_text(encoding="utf-8"))
        whole = json.dumps(inputs | {name: lake.digest(name) for name in ESTIMATES})
        (lake.build / WHOLE).write_text(whole, encoding="utf-8")


def _require_whole(lake: Lake) -> None:
    whole = lake.build / WHOLE
    if not whole.exists():
        raise IncompleteBuild(
            f"The working database in {lake.build} is not the result of one whole build. Run the job whole_study."
        )
    built_from = json.loads(whole.read_text(encoding="utf-8"))
    changed = sorted(name for name, digest in built_from.items() if lake.digest(name) != digest)
    if changed:
        raise IncompleteBuild(
            f"The lake's {', '.join(changed)} changed since the working database was built. Run the job whole_study."
        )


def content_digest(database: duckdb.DuckDBPyConnection) -> str:
    """SHA-256 over the published schemas: names, types, comments, view texts and the multiset of rows."""
    digest = hashlib.sha256()
    described = database.execute(
        """
        select schema_name, table_name, column_name, data_type, comment from duckdb_columns()
        where not internal and schema_name in ('marts', 'reports')
        union all
        select schema_name, view_name, '', sql, comment from duckdb_views()
        where not internal and schema_name in ('marts', 'reports')
        union all
        select schema_name, table_name, '', '', comment from duckdb_tables()
        where not internal and schema_name in ('marts', 'reports')
        order by all
        """
    ).fetchall()
    digest.update(repr(described).encode())
    for schema, name in database.execute(
        "select schema_name, table_name from duckdb_tables() where schema_name in ('marts', 'reports') order by all"
    ).fetchall():
        # A sum of row hashes does not depend on the order of the rows, which no table promises.
        content = database.sql(
            f"select count(*), sum(hash(row_)::hugeint) from {_quoted(schema)}.{_quoted(name)} as row_"
        ).fetchall()
        digest.update(repr((schema, name, content)).encode())
    return digest.hexdigest()


def _copy_build(build: Path, draft: Path) -> None:
    """Copy all relations of `build` into the new file `draft`, in a format that DuckDB 1.x clients read as well."""
    if not build.exists():
        raise IncompleteBuild(f"There is no build at {build}. Materialize the marts first.")
    with duckdb.connect(build) as database:
        # Folds in a write-ahead log that a killed writer left behind; attaching read-only would ignore it.
        database.execute("checkpoint")
    with duckdb.connect() as session:
        session.execute(f"attach {_literal(build)} as build (read_only)")
        session.execute(f"attach {_literal(draft)} as draft (storage_version 'v1.0.0')")
        session.execute("copy from database build to draft")


def _keep_only(database: duckdb.DuckDBPyConnection, relations: Collection[Relation]) -> None:
    present = {
        Relation(schema, name): kind
        for schema, name, kind in database.execute(
            "select schema_name, table_name, 'table' from duckdb_tables() where not internal "
            "union all select schema_name, view_name, 'view' from duckdb_views() where not internal"
        ).fetchall()
    }
    missing = sorted(f"{relation.schema}.{relation.name}" for relation in relations if relation not in present)
    if missing:
        raise IncompleteBuild(
            f"The build lacks {', '.join(missing)}, so nothing is published. Materialize the whole study once."
        )
    for relation, kind in present.items():
        if relation not in relations:
            database.execute(f"drop {kind} {_quoted(relation.schema)}.{_quoted(relation.name)} cascade")


def _published_digest(lake: Lake) -> str | None:
    if not lake.warehouse.exists():
        return None
    try:
        with duckdb.connect(lake.warehouse, read_only=True) as database:
            return database.sql("select content_digest from meta.build").fetchall()[0][0]
    except duckdb.Error:
        # A file that cannot be read, or is of another version, is what publishing replaces.
        return None


def _describe(database: duckdb.DuckDBPyConnection, lake: Lake, digest: str) -> None:
    """Write `meta.build`: which build this is, of what, made with what."""
    study, encoders = database.sql("select name, encoders from marts.study").fetchall()[0]
    database.execute("create schema if not exists meta")
    database.execute(
        """
        create or replace table meta.build as select
          ? as build_id, ? as content_digest, ?::timestamptz as published_at, ? as study, ? as archive_digest,
          ? as reprise_version, ? as duckdb_version, ? as dbt_version, ?::varchar[] as encoders
        """,
        [
            digest[:16],
            digest,
            datetime.now(UTC),
            study,
            lake.digest("archive"),
            importlib.metadata.version("reprise"),
            duckdb.__version__,
            importlib.metadata.version("dbt-core"),
            encoders,
        ],
    )
    database.execute("comment on table meta.build is 'The published build. One row.'")


def _literal(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
