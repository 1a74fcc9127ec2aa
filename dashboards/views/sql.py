"""Questions of one's own to the published warehouse."""

import streamlit as st

from dashboards import adhoc, text
from dashboards.exhibit import grid, guard_note
from dashboards.export import to_csv
from dashboards.warehouse import QUERIES, SlowQueryError, pinned, query

EXAMPLES = {
    statement.partition("\n")[0].removeprefix("-- "): statement
    for statement in (path.read_text(encoding="utf-8").strip() for path in sorted((QUERIES / "examples").glob("*.sql")))
}

text.muted(
    f"One reading statement (DuckDB SQL) on the published snapshot. It cannot write, attach or read files, is stopped "
    f"after {adhoc.SECONDS:g} seconds and shows at most {adhoc.MAX_ROWS:,} rows. For more, open the warehouse itself: "
    "make sql."
)

# A link brings a statement along; it is put into the editor and waits there, because running it is the reader's call.
linked = st.query_params.get("sql")
if linked and linked != st.session_state.get("_linked_sql"):
    st.session_state["_linked_sql"] = linked
    st.session_state["statement"] = linked
st.session_state.setdefault("statement", next(iter(EXAMPLES.values())))


def load_example() -> None:
    if st.session_state["example"]:
        st.session_state["statement"] = EXAMPLES[st.session_state["example"]]
        st.session_state.pop("_asked", None)


editor, schema = st.columns([3, 2], gap="large")
with editor:
    st.selectbox("Questions worth asking", list(EXAMPLES), index=None, key="example", on_change=load_example)
    with st.form("ask", border=False):
        statement = st.text_area("Statement", key="statement", height=230)
        if st.form_submit_button("Run", type="primary"):
            st.session_state["_asked"] = statement

with schema, st.container(height=420, border=False):
    st.html("<b>Tables and columns</b>")
    relations: dict[str, list] = {}
    for record in query("schema").records():
        relations.setdefault(f"{record['schema_name']}.{record['table_name']}", []).append(record)
    st.html(
        "".join(
            f'<details class="rp-schema"><summary><code>{text.escape(relation)}</code> '
            f'<span class="rp-muted">{text.escape(columns[0]["table_comment"] or "")}</span></summary>'
            + text.table(columns, {"column_name": "Column", "data_type": "Type", "comment": "Meaning"})
            + "</details>"
            for relation, columns in relations.items()
        )
    )

asked = st.session_state.get("_asked")
if asked is None:
    st.stop()
try:
    answer = adhoc.ask(pinned(), asked)
except adhoc.RefusedStatementError as refusal:
    text.note(f"Not run. {refusal}", "problem")
    st.stop()
except adhoc.FailedStatementError as failure:
    text.note(str(failure), "problem")
    st.stop()
except SlowQueryError as slow:
    text.note(f"{slow} Narrow it down, or run it in the shell: `make sql`.", "problem")
    st.stop()

headings = [
    name if answer.columns.index(name) == place else f"{name} ({answer.columns[: place + 1].count(name)})"
    for place, name in enumerate(answer.columns)
]
if answer.columns == ("explain_key", "explain_value"):
    st.code("\n".join(plan for _, plan in answer.rows), language=None)
else:
    st.dataframe(
        grid({heading: text.cells([row[place] for row in answer.rows]) for place, heading in enumerate(headings)}),
        hide_index=True,
        placeholder=text.EM_DASH,
    )
text.muted(
    f"The first {adhoc.MAX_ROWS:,} rows; there are more. Aggregate, or add a limit of your own."
    if answer.truncated
    else f"{len(answer.rows):,} {'row' if len(answer.rows) == 1 else 'rows'}."
)
content, guarded = to_csv(answer)
st.download_button("CSV", content, file_name="answer.csv", mime="text/csv", key="csv-answer", on_click="ignore")
if guarded:
    text.muted(guard_note(guarded))
