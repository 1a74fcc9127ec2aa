"""What stands below every figure and table: its numbers as CSV, the SQL behind them, the caveats of its intervals."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import streamlit as st

from dashboards import text
from dashboards.export import to_csv
from dashboards.study import Study
from dashboards.warehouse import Answer

SQL_PAGE = "views/sql.py"


def numbers(answer: Answer, stem: str) -> None:
    """A CSV button for `answer` and the SQL it came from. `stem` names the file and must be unique on the page."""
    content, guarded = to_csv(answer)
    with st.container(horizontal=True, gap="small"):
        st.download_button(
            "CSV",
            content,
            file_name=f"{stem}.csv",
            mime="text/csv",
            key=f"csv-{stem}",
            on_click="ignore",
            type="tertiary",
            icon=":material/download:",
        )
        with st.popover("SQL", type="tertiary", icon=":material/code:", key=f"sql-{stem}"):
            text.muted(f"dashboards/queries/{answer.name}.sql")
            st.code(answer.sql, language="sql")
            st.page_link(SQL_PAGE, label="Change it on the SQL page", query_params={"sql": answer.sql})
            if guarded:
                text.muted(guard_note(guarded))


def guard_note(guarded: int) -> str:
    return (
        f"In the CSV, {guarded} text {'cell begins' if guarded == 1 else 'cells begin'} with = + - or @ and got an "
        "apostrophe in front, so that a spreadsheet does not run model-written text as a formula."
    )


def grid(columns: Mapping[str, Sequence[Any]]) -> pa.Table:
    """Columns for `st.dataframe`. Unlike a pandas frame, an Arrow table keeps integers beside missing values."""
    return pa.table({name: pa.array(values) for name, values in columns.items()})


def interval_caveats(records: Sequence[dict[str, Any]], study: Study) -> None:
    """Say on the page which intervals are indicative only and which do not exist, and why."""
    few = {record["n_motions"] for record in records if record["interval_status"] == "too_few_clusters"}
    if few:
        counts = f"{min(few)}" if min(few) == max(few) else f"{min(few)} to {max(few)}"
        text.note(
            f"Too few clusters: {counts} motions, fewer than {study.min_clusters}. The bootstrap resamples motions, so "
            "these intervals are indicative only; a chart draws them dashed.",
            "warning",
        )
    missing = [record for record in records if record["interval_status"] == "no_interval"]
    for reason in sorted({record["interval_note"] or "one motion cannot be resampled." for record in missing}):
        text.note(f"No interval for {len(missing)} estimates: {reason}", "warning")


def nothing(what: str) -> None:
    """Say that the warehouse holds no `what` for the present choice."""
    text.note(f"The warehouse holds no {what} for this choice. Choose differently above, or add it to the study.")
