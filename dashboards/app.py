"""The dashboards' entry point: `python -m streamlit run dashboards/app.py` (or `make dashboard`).

A page is one file in `views/` and one line here. The folder is not called `pages/` because Streamlit takes a folder of
that name beside the entry point as the whole application, and then opens a linked page without running this file.
"""

from datetime import UTC, datetime
from pathlib import Path

import streamlit as st

from dagster_project.lake import resolve_lake
from dashboards import text, warehouse

# With no icon of its own the browser tab takes the page's, which Streamlit fetches from a server on the internet.
st.set_page_config(page_title="Reprise", page_icon=str(Path(__file__).with_name("icon.svg")), layout="wide")

overview = st.Page("views/overview.py", title="Overview", icon=":material/database:", default=True)
sql = st.Page("views/sql.py", title="SQL", icon=":material/terminal:")
runs = st.Page("views/runs.py", title="Runs", icon=":material/cloud_sync:")
results = [
    st.Page("views/language_gaps.py", title="Language gaps", icon=":material/language:"),
    st.Page("views/condition_effects.py", title="Condition effects", icon=":material/tune:"),
    st.Page("views/agents_and_turns.py", title="Agents and turns", icon=":material/groups:"),
    st.Page("views/explore.py", title="Explore a contrast", icon=":material/query_stats:"),
    st.Page("views/robustness.py", title="Robustness and noise", icon=":material/balance:"),
    st.Page("views/diagnostics.py", title="Diagnostics", icon=":material/troubleshoot:"),
    st.Page("views/repetition.py", title="Repetition", icon=":material/repeat:"),
    st.Page("views/compare.py", title="Compare with the paper", icon=":material/compare:"),
    st.Page("views/reports.py", title="Published tables", icon=":material/table_chart:"),
]
instruments = [
    st.Page("views/calibration.py", title="Calibration", icon=":material/straighten:"),
    st.Page("views/outcomes.py", title="Judged quality", icon=":material/gavel:"),
    st.Page("views/functions.py", title="Functions of pairs", icon=":material/category:"),
]
reading = [
    st.Page("views/transcripts.py", title="Transcripts", icon=":material/article:"),
    st.Page("views/pairs.py", title="Pair explorer", icon=":material/compare_arrows:"),
]
# These say what a warehouse without sessions does hold: its rejects, its tables and its calls.
PAGES_WITHOUT_SESSIONS = (overview, sql, runs)


def snapshot_footer() -> None:
    """Which build the page shows and how old it is, in the sidebar."""
    build = warehouse.query("build").first()
    with st.sidebar:
        if build is None:
            text.muted(f"Snapshot {warehouse.pinned().path.name}; it does not say when it was built.")
            return
        text.muted(
            f"Snapshot {build['build_id']}",
            f"Published {text.age(datetime.now(UTC) - build['published_at'])} ago",
            f"{build['published_at']:%Y-%m-%d %H:%M %Z}",
            f"Study {build['study']}, Reprise {build['reprise_version']}",
        )


page = st.navigation(
    {"Warehouse": [overview, sql, runs], "Results": results, "Instruments": instruments, "Reading": reading},
    expanded=True,
)
st.html(text.STYLE)
st.title(page.title)
try:
    # The first run of a study is watched before there is a warehouse.
    if page == runs and not warehouse.is_published() and resolve_lake().live_ledger:
        page.run()
        st.stop()
    warehouse.pin(warehouse.current_snapshot())
    snapshot_footer()
    if not warehouse.query("session_count").column("sessions")[0]:
        text.note(
            "The warehouse is published but holds no sessions. Run `make demo` to fill it from the sample archive, or "
            "materialize your study; rejected records, if there are any, are listed on the Overview page.",
            "warning",
        )
        if page not in PAGES_WITHOUT_SESSIONS:
            st.stop()
    page.run()
except warehouse.WarehouseError as problem:
    text.note(str(problem), "problem")
except warehouse.SnapshotGoneError:
    st.rerun()
