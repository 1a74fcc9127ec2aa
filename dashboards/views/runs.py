"""The calls to models: what is done and what is left, what it cost, and what went wrong last."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dashboards import exhibit, text, warehouse
from dashboards.warehouse import query

SECONDS_BETWEEN_LOOKS = 15


def money(row: Mapping[str, Any]) -> str:
    """A cost in US dollars that never makes an unknown one look like nothing."""
    known, unpriced = row["cost_usd"], row["unpriced"]
    if known is None:
        return "unknown" if unpriced else "–"
    return f"{'at least ' if unpriced else ''}{known:,.4f}"


def moment(value: Any) -> str:
    return "–" if value is None else f"{value:%Y-%m-%d %H:%M:%S}"


def page() -> None:
    """The whole page, from the newest state that a run has shown."""
    warehouse.pin(warehouse.newest_ledger())
    totals = query("runs_totals")
    held = totals.first()
    if not held["debates"] and not held["answered"] and not held["failed"]:
        text.note(
            "No debate of this warehouse was made here, so there are no calls to show. `reprise --study … generate` "
            "makes a study's debates (docs/running-a-study.md); `make demo` reads debates that are there already."
        )
        return
    rows_of_figures = (
        {
            "Debates complete": f"{held['complete']:,} of {held['debates']:,}",
            "Debates broken off": f"{held['broken_off']:,}",
            "Debates waiting": f"{held['waiting']:,}",
            "Calls answered": f"{held['answered']:,}",
            "Calls failed": f"{held['failed']:,}",
        },
        {
            "Tokens in": f"{held['input_tokens'] or 0:,}",
            "Tokens out": f"{held['output_tokens'] or 0:,}",
            "US dollars": money(held),
        },
    )
    for figures in rows_of_figures:
        for column, (title, value) in zip(st.columns(len(figures)), figures.items(), strict=True):
            column.metric(title, value)
    if held["going_on"]:
        text.muted(f"A run is going on, with {held['in_flight']:,} calls in flight at the last look.")
    exhibit.numbers(totals, "runs-totals")

    st.subheader("Debates by phase")
    phases = query("runs_phases")
    if phases.rows:
        columns = {
            "phase": "Phase",
            "debates": "Debates",
            "complete": "Complete",
            "partial": "Partial",
            "failed": "Failed",
            "waiting": "Waiting",
            "turns": "Turns",
            "codes": "Broken off because of",
        }
        st.html(text.table(phases.records(), columns, numbers=tuple(columns)[1:-1]))
        text.muted(
            "Partial debates are kept and left out of the analysis; the next run goes on from their first missing turn."
        )
        exhibit.numbers(phases, "runs-phases")
    else:
        text.note("No phase of debates is locked yet.")

    st.subheader("Calls by provider and stage")
    providers = query("runs_providers")
    columns = {
        "provider": "Provider",
        "stage": "Stage",
        "answered": "Answered",
        "tried_again": "Tried again",
        "failed": "Failed",
        "interrupted": "Interrupted",
        "error_rate": "Errors",
        "latency": "Seconds, median / 95 %",
        "input_tokens": "Tokens in",
        "cached_input_tokens": "of them cached",
        "output_tokens": "Tokens out",
        "reasoning_tokens": "of them reasoning",
        "cost": "US dollars",
    }
    rows = [
        row
        | {
            "error_rate": "–" if row["error_rate"] is None else f"{row['error_rate']:.1%}",
            "latency": f"{text.fixed(row['median_latency_s'], 1)} / {text.fixed(row['p95_latency_s'], 1)}",
            "cost": money(row),
        }
        for row in providers.records()
    ]
    st.html(text.table(rows, columns, numbers=tuple(columns)[2:]))
    exhibit.numbers(providers, "runs-providers")

    st.subheader("Latest failures")
    failures = query("runs_failures")
    for row in failures.records():
        place = f"{row['session_id']}/{row['turn_index']}" if row["session_id"] else row["stage"]
        with st.expander(text.label(f"{moment(row['finished_at'])} {row['provider']} {row['code']} – {place}")):
            st.html(f"<p>{text.escape(row['reason'])}</p>")
            status = "no HTTP status" if row["status"] is None else f"HTTP status {row['status']}"
            text.muted(f"Attempt {row['attempt_id']}, {row['agent']}, {row['outcome']}, {status}")
            if row["failed_response"]:
                st.html(text.passage(row["failed_response"], "en", "ltr"))
    if failures.rows:
        exhibit.numbers(failures, "runs-failures")
    else:
        text.muted("No attempt has failed.")

    st.subheader("Runs")
    runs = query("runs_list")
    columns = {
        "run_id": "Run",
        "purpose": "For",
        "started_at": "Started",
        "finished_at": "Ended",
        "ending": "How",
        "attempts": "Attempts",
        "cap": "Spending cap",
        "cost": "US dollars",
        "litellm_version": "LiteLLM",
    }
    rows = [
        row
        | {
            "started_at": moment(row["started_at"]),
            "finished_at": moment(row["finished_at"]),
            "ending": row["ending"] or "goes on",
            "cap": "none" if row["spending_cap_usd"] is None else f"{row['spending_cap_usd']:,.2f}",
            "cost": money(row),
        }
        for row in runs.records()
    ]
    st.html(text.table(rows, columns, numbers=("run_id", "attempts", "cap", "cost")))
    text.muted(
        "Costs are what the price table says for the tokens that the provider counted; compare them with its bill."
    )
    exhibit.numbers(runs, "runs-list")


warehouse.pin(warehouse.newest_ledger())
goes_on = bool(query("runs_totals").first()["going_on"])
st.fragment(page, run_every=SECONDS_BETWEEN_LOOKS if goes_on else None)()
