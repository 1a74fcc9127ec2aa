"""Ad-hoc SQL from the reader of a page: what may run, for how long, and how much of the answer is shown.

Two locks, each sufficient for its half. The statement must be a single one that only reads, by DuckDB's own parser.
And the connection cannot write, attach, read files or change settings, whatever the statement says.
"""

import duckdb

from dashboards.warehouse import Answer, Snapshot, execute

SECONDS = 10.0
MAX_ROWS = 1_000

_ALLOWED = "exactly one SELECT, WITH, FROM, DESCRIBE, SHOW, SUMMARIZE or EXPLAIN statement"


class RefusedStatementError(Exception):
    """The text is not one reading statement; the message says why."""


class FailedStatementError(Exception):
    """DuckDB could not run the statement; the message is DuckDB's."""


def ask(snapshot: Snapshot, sql: str, *, seconds: float = SECONDS, max_rows: int = MAX_ROWS) -> Answer:
    """The first `max_rows` rows of `sql` on `snapshot`; `truncated` tells whether there were more.

    Raises RefusedStatementError before anything runs, FailedStatementError with DuckDB's message, SlowQueryError after
    `seconds`.
    """
    statement = judge(sql)
    try:
        columns, rows = execute(snapshot, statement, {}, seconds=seconds, max_rows=max_rows + 1)
    except duckdb.Error as error:
        raise FailedStatementError(str(error)) from error
    return Answer("ad hoc", statement, columns, rows[:max_rows], truncated=len(rows) > max_rows)


def judge(sql: str) -> str:
    """The one reading statement in `sql`. RefusedStatementError when it is empty, several, or of another kind."""
    with duckdb.connect(":memory:") as parser:
        statement = _only_statement(parser, sql)
        if statement.type == duckdb.StatementType.EXPLAIN:
            # EXPLAIN ANALYZE runs what it explains, and DuckDB's parser does not tell what that is.
            explained = _only_statement(parser, _explained(statement.query))
            if explained.type != duckdb.StatementType.SELECT:
                raise RefusedStatementError(f"EXPLAIN may only explain a query, not {_kind(explained)}.")
        elif statement.type != duckdb.StatementType.SELECT:
            raise RefusedStatementError(f"This is {_kind(statement)}. The page runs {_ALLOWED}.")
        return statement.query


def _only_statement(parser: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    try:
        statements = parser.extract_statements(sql)
    except duckdb.Error as error:
        raise RefusedStatementError(str(error)) from error
    if len(statements) != 1:
        found = "no statements" if not statements else f"{len(statements)} statements"
        raise RefusedStatementError(f"There are {found} here. The page runs {_ALLOWED}.")
    return statements[0]


def _explained(sql: str) -> str:
    """The text after EXPLAIN or EXPLAIN ANALYZE, cut where DuckDB's tokenizer starts the next token."""
    encoded = sql.encode()
    tokens = duckdb.tokenize(sql)
    ends = [start for start, _ in tokens[1:]] + [len(encoded)]
    words = [
        (start, encoded[start:end].strip().lower())
        for (start, kind), end in zip(tokens, ends, strict=True)
        if kind != duckdb.token_type.comment
    ]
    rest = words[2:] if len(words) > 1 and words[1][1] in (b"analyze", b"analyse") else words[1:]
    return encoded[rest[0][0] :].decode() if rest else ""


def _kind(statement: duckdb.Statement) -> str:
    if statement.type == duckdb.StatementType.MULTI:
        return "several statements in one, as a PIVOT without an IN list is"
    name = statement.type.name.replace("_", " ")
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name} statement"
