"""Publishing: all of a build or nothing, and nothing new when nothing is new."""

from pathlib import Path

import duckdb
import pytest

from dagster_project.lake import Lake
from dagster_project.publish import (
    BUILT_FROM,
    ESTIMATES,
    IncompleteBuild,
    Relation,
    begin_build,
    begin_marts,
    finish_build,
    finish_marts,
    publish_build,
)

RELATIONS = [Relation("marts", "study"), Relation("marts", "turns"), Relation("reports", "table_03")]


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake(tmp_path / "somebody's lake")
    lake.build.mkdir(parents=True)
    for name in (*BUILT_FROM, *ESTIMATES):
        fill(lake, name, "first")
    build(lake, turns=[(1, 0.5), (2, 0.25)])
    return lake


def fill(lake: Lake, name: str, content: str) -> None:
    with lake.replace(name) as directory:
        (directory / "data.parquet").write_text(content)


def build(lake: Lake, turns: list[tuple[int, float]]) -> None:
    lake.build_warehouse.unlink(missing_ok=True)
    with duckdb.connect(lake.build_warehouse) as database:
        database.execute("create schema marts; create schema reports; create schema leftovers")
        database.execute("create table marts.study as select 'sample' as name, ['use'] as encoders")
        database.execute("create table marts.turns (turn_index int, similarity double)")
        database.executemany("insert into marts.turns values (?, ?)", turns)
        database.execute("comment on column marts.turns.similarity is 'A cosine.'")
        database.execute("create view reports.table_03 as select max(similarity) as largest from marts.turns")
        database.execute("create table leftovers.renamed as select 1 as x; create table marts.renamed as select 1 as x")
    finish_marts(lake)
    finish_build(lake)


def read(path: Path, sql: str) -> list[tuple]:
    with duckdb.connect(path, read_only=True) as database:
        return database.sql(sql).fetchall()


def test_a_published_build_holds_the_projects_relations_and_no_others(lake: Lake) -> None:
    build = publish_build(lake, RELATIONS)
    assert build.changed
    assert build.rows == {"marts.study": 1, "marts.turns": 2}
    assert read(lake.warehouse, "select table_schema, table_name from information_schema.tables order by all") == [
        ("marts", "study"),
        ("marts", "turns"),
        ("meta", "build"),
        ("reports", "table_03"),
    ]
    assert read(lake.warehouse, "from reports.table_03") == [(0.5,)]


def test_comments_reach_the_published_file(lake: Lake) -> None:
    publish_build(lake, RELATIONS)
    comments = read(lake.warehouse, "select comment from duckdb_columns() where column_name = 'similarity'")
    assert comments == [("A cosine.",)]


def test_a_view_works_under_any_alias(lake: Lake) -> None:
    publish_build(lake, RELATIONS)
    with duckdb.connect() as session:
        session.execute(f"attach '{str(lake.warehouse).replace(chr(39), 2 * chr(39))}' as w (read_only)")
        assert session.sql("from w.reports.table_03").fetchall() == [(0.5,)]


def test_the_published_file_can_be_read_by_duckdb_1(lake: Lake) -> None:
    publish_build(lake, RELATIONS)
    header = lake.warehouse.read_bytes()[:20]
    assert header[8:12] == b"DUCK"
    # 64 is the storage version of DuckDB 0.10 to 1.1; DuckDB 2.0 writes 69 unless told otherwise.
    assert int.from_bytes(header[12:20], "little") == 64


def test_an_equal_build_in_another_row_order_changes_nothing(lake: Lake) -> None:
    first = publish_build(lake, RELATIONS)
    content = lake.warehouse.read_bytes()
    build(lake, turns=[(2, 0.25), (1, 0.5)])
    second = publish_build(lake, RELATIONS)
    assert (second.changed, second.build_id, second.path) == (False, first.build_id, first.path)
    assert lake.warehouse.read_bytes() == content
    assert [file.name for file in lake.published.iterdir()] == [first.path.name]


@pytest.mark.parametrize("turns", [[(1, 0.5)], [(1, 0.5), (2, 0.25000001)], [(1, 0.5), (2, 0.25), (2, 0.25)]])
def test_any_other_content_is_another_build(lake: Lake, turns: list[tuple[int, float]]) -> None:
    first = publish_build(lake, RELATIONS)
    build(lake, turns)
    second = publish_build(lake, RELATIONS)
    assert second.changed
    assert second.path != first.path
    assert read(lake.warehouse, "select build_id, study, encoders from meta.build") == [
        (second.build_id, "sample", ["use"])
    ]


def test_another_comment_is_another_build(lake: Lake) -> None:
    first = publish_build(lake, RELATIONS)
    with duckdb.connect(lake.build_warehouse) as database:
        database.execute("comment on column marts.turns.similarity is 'Something else.'")
    assert publish_build(lake, RELATIONS).build_id != first.build_id


def test_a_build_that_lacks_a_relation_is_refused_and_the_published_one_stays(lake: Lake) -> None:
    first = publish_build(lake, RELATIONS)
    with duckdb.connect(lake.build_warehouse) as database:
        database.execute("drop view reports.table_03")
    with pytest.raises(IncompleteBuild, match=r"lacks reports\.table_03"):
        publish_build(lake, RELATIONS)
    assert lake.warehouse.resolve() == first.path.resolve()


def test_without_a_build_the_refusal_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(IncompleteBuild, match="Run the job whole_study"):
        publish_build(Lake(tmp_path), RELATIONS)


@pytest.mark.parametrize("name", [*BUILT_FROM, *ESTIMATES])
def test_a_build_of_an_earlier_state_of_the_lake_is_refused(lake: Lake, name: str) -> None:
    fill(lake, name, "second")
    with pytest.raises(IncompleteBuild, match=f"{name} changed since"):
        publish_build(lake, RELATIONS)
    assert not lake.warehouse.exists()


def test_marts_rebuilt_without_their_reports_are_refused(lake: Lake) -> None:
    begin_marts(lake)
    finish_marts(lake)
    with pytest.raises(IncompleteBuild, match="not the result of one whole build"):
        publish_build(lake, RELATIONS)


def test_reports_built_on_marts_that_failed_are_refused(lake: Lake) -> None:
    begin_marts(lake)
    begin_build(lake)
    finish_build(lake)
    with pytest.raises(IncompleteBuild, match="not the result of one whole build"):
        publish_build(lake, RELATIONS)


def test_an_unreadable_published_file_is_replaced(lake: Lake) -> None:
    build = publish_build(lake, RELATIONS)
    build.path.write_bytes(b"not a database")
    assert publish_build(lake, RELATIONS).changed
    assert read(lake.warehouse, "from reports.table_03") == [(0.5,)]


def test_going_back_to_an_earlier_content_points_at_it_again(lake: Lake) -> None:
    first = publish_build(lake, RELATIONS)
    build(lake, turns=[(1, 0.5)])
    publish_build(lake, RELATIONS)
    build(lake, turns=[(1, 0.5), (2, 0.25)])
    third = publish_build(lake, RELATIONS)
    assert third.changed
    assert third.build_id == first.build_id
    assert read(lake.warehouse, "select count(*) from marts.turns") == [(2,)]
