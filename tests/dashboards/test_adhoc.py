"""The SQL page's two locks: what is refused before it runs, and what the connection cannot do whatever is asked."""

import hashlib
from pathlib import Path

import duckdb
import pytest

from dashboards.adhoc import FailedStatementError, RefusedStatementError, ask, judge
from dashboards.warehouse import SlowQueryError, open_read_only
from tests.dashboards.conftest import snapshot_of

READING = [
    "select 1",
    "with a as (select 1 as x) select * from a",
    "from marts.sessions select session_id limit 1",
    "describe marts.sessions",
    "show tables",
    "show all tables",
    "summarize marts.sessions",
    "explain select * from marts.sessions",
    "explain analyze select count(*) from marts.sessions",
    "/* é */ explain -- copy\n analyze -- drop\n select 'é'",
    "select 1;",
    "select 'delete from x; drop table y'",
    "values (1, 2)",
    "select * from query_table('marts.sessions') limit 1",
]
OTHER = [
    "insert into marts.rejects values (1)",
    "update marts.sessions set status = 'x'",
    "delete from marts.sessions",
    "create table t as select 1",
    "create temp table t as select 1",
    "create macro m() as 1",
    "drop table marts.sessions",
    "alter table marts.sessions add column x int",
    "attach 'other.duckdb'",
    "detach warehouse",
    "use memory",
    "copy marts.sessions to 'out.csv'",
    "copy marts.sessions from 'in.csv'",
    "export database 'dump'",
    "import database 'dump'",
    "install httpfs",
    "load httpfs",
    "set threads = 1",
    "reset threads",
    "set variable x = 1",
    "pragma database_list",
    "call pragma_version()",
    "checkpoint",
    "vacuum",
    "begin",
    "prepare p as select 1",
    "execute p",
    "explain delete from marts.sessions",
    "explain analyze delete from marts.sessions",
    "explain analyze copy (select 1) to 'out.csv'",
    "explain/**/analyze/**/copy (select 1) to 'out.csv'",
    "explain analyze create temp table t as select 1",
    "explain set threads = 1",
    "explain (format json) copy (select 1) to 'out.csv'",
    "select 1; select 2",
    "select 1; drop table marts.sessions",
    "",
    "   ;  ",
    "-- nothing",
    "selekt 1",
]


@pytest.mark.parametrize("sql", READING)
def test_one_reading_statement_is_run(sql: str, small_warehouse: Path):
    assert ask(snapshot_of(small_warehouse), sql).columns


@pytest.mark.parametrize("sql", OTHER)
def test_anything_else_is_refused_with_a_reason(sql: str):
    with pytest.raises(RefusedStatementError) as refusal:
        judge(sql)
    assert len(str(refusal.value)) > 20


ESCAPES = [
    "select * from read_csv('{secret}')",
    "select * from read_text('{secret}')",
    "select * from read_blob('{secret}')",
    "select * from read_json('{secret}')",
    "select * from read_parquet('{secret}')",
    "select * from '{secret}'",
    "select * from '{secret}.csv'",
    "summarize '{secret}'",
    "describe '{secret}'",
    "select * from glob('{folder}/*')",
    "select * from sniff_csv('{secret}')",
    "select * from read_blob('{warehouse}')",
    "select * from read_duckdb('{warehouse}')",
    "select * from read_blob('{warehouse}.wal')",
    "select * from parquet_metadata('{secret}')",
    "select * from query('select * from read_text(''{secret}'')')",
    "select * from json_execute_serialized_sql(json_serialize_sql('select * from read_text(''{secret}'')'))",
    "with gone as (delete from marts.sessions returning *) select * from gone",
    "with more as (insert into marts.rejects (part) values ('x') returning *) select * from more",
    "with changed as (update marts.sessions set status = 'x' returning *) select * from changed",
    "explain analyze with gone as (delete from marts.sessions returning *) select * from gone",
    "select * from enable_logging(storage = 'file', storage_path = '{folder}/log')",
    "select * from enable_profiling(save_location = '{folder}/profile.json')",
    "select getenv('HOME')",
    "select * from 'https://localhost/x.csv'",
]


@pytest.mark.parametrize("sql", ESCAPES)
def test_a_statement_that_looks_like_reading_cannot_write_or_leave_the_warehouse(
    sql: str, small_warehouse: Path, tmp_path: Path
):
    secret = tmp_path / "secret.csv"
    secret.write_text("word\nconfidential\n")
    before = hashlib.sha256(small_warehouse.read_bytes()).hexdigest()
    statement = sql.format(secret=secret, folder=tmp_path, warehouse=small_warehouse)
    with pytest.raises((FailedStatementError, RefusedStatementError)) as failure:
        ask(snapshot_of(small_warehouse), statement)
    assert "confidential" not in str(failure.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secret.csv"]
    assert hashlib.sha256(small_warehouse.read_bytes()).hexdigest() == before


@pytest.mark.parametrize(
    "sql",
    [
        "create table marts.t as select 1",
        "delete from marts.sessions",
        "copy marts.sessions to '{folder}/out.csv'",
        "copy (select 1) to '{warehouse}.wal.checkpoint'",
        "attach '{folder}/other.duckdb'",
        "set enable_external_access = true",
        "set disabled_filesystems = ''",
        "reset lock_configuration",
        "install httpfs",
        "load httpfs",
        "export database '{folder}/dump'",
        "set temp_directory = '{folder}'",
    ],
)
def test_the_connection_refuses_by_itself_what_the_judge_would_refuse(sql: str, small_warehouse: Path, tmp_path: Path):
    before = hashlib.sha256(small_warehouse.read_bytes()).hexdigest()
    with open_read_only(snapshot_of(small_warehouse)) as connection, pytest.raises(duckdb.Error):
        connection.execute(sql.format(folder=tmp_path, warehouse=small_warehouse))
    assert list(tmp_path.iterdir()) == []
    assert hashlib.sha256(small_warehouse.read_bytes()).hexdigest() == before
    assert sorted(path.name for path in small_warehouse.parent.iterdir()) == [small_warehouse.name]


def test_stored_secrets_are_out_of_reach(small_warehouse: Path):
    assert ask(snapshot_of(small_warehouse), "select * from duckdb_secrets()").rows == ()
    setting = ask(snapshot_of(small_warehouse), "select current_setting('allow_persistent_secrets')")
    assert setting.rows == ((False,),)


def test_a_long_answer_is_cut_and_says_so(small_warehouse: Path):
    answer = ask(snapshot_of(small_warehouse), "select * from range(5000)", max_rows=100)
    assert len(answer.rows) == 100
    assert answer.truncated


def test_an_answer_of_exactly_the_limit_is_whole(small_warehouse: Path):
    answer = ask(snapshot_of(small_warehouse), "select * from range(100)", max_rows=100)
    assert len(answer.rows) == 100
    assert not answer.truncated


def test_a_statement_that_never_ends_is_stopped(small_warehouse: Path):
    endless = "with recursive n as (select 1 as i union all select i + 1 from n) select count(*) from n"
    with pytest.raises(SlowQueryError):
        ask(snapshot_of(small_warehouse), endless, seconds=0.5)


def test_a_statement_that_wants_all_memory_fails_alone(small_warehouse: Path):
    with pytest.raises((FailedStatementError, SlowQueryError)):
        ask(snapshot_of(small_warehouse), "select list(range) from range(10_000_000_000)", seconds=2)
    assert ask(snapshot_of(small_warehouse), "select 1").rows == ((1,),)


def test_a_mistake_is_answered_in_duckdbs_words(small_warehouse: Path):
    with pytest.raises(FailedStatementError, match="sessionz"):
        ask(snapshot_of(small_warehouse), "select * from marts.sessionz")
