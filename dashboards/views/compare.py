"""Every published number beside this study's: how far apart they are, and what is missing."""

import streamlit as st

from dashboards import charts, exhibit, published, text
from dashboards.warehouse import query

answer = query("compared_cells")
records = answer.records()
tables = list(dict.fromkeys(record["table"] for record in records))
if not records:
    exhibit.nothing("published value")
    st.stop()

both = [row for row in records if row["estimate"] is not None and row["published_estimate"] is not None]
same_sign = sum((row["estimate"] > 0) == (row["published_estimate"] > 0) for row in both)
with_interval = [row for row in both if row["ci_low"] is not None]
within = sum(row["ci_low"] <= row["published_estimate"] <= row["ci_high"] for row in with_interval)
ours_alone = sum(row["estimate"] is not None and row["published_value"] is None for row in records)
for column, (title, value) in zip(
    st.columns(4),
    {
        "Published values": f"{sum(row['published_value'] is not None for row in records):,}",
        "With ours beside them": f"{len(both):,}",
        "Of these, same sign": f"{same_sign:,}",
        "Published in our interval": f"{within:,} of {len(with_interval):,}",
    }.items(),
    strict=True,
):
    column.metric(title, value)
text.muted(
    "Published values come from the paper's own 71 motions, agents and encoders. Only rows of the same encoder, "
    "language and quantity stand side by side; other data need not reproduce them, and a study with other encoders has "
    "few."
)

# Counts and lengths would leave no room for the rest.
drawn = [row for row in both if max(abs(row["estimate"]), abs(row["published_estimate"])) <= 1]
if drawn:
    st.altair_chart(
        charts.compared([{**row, "name": f"Table {row['table']}: {row['row']}, {row['column']}"} for row in drawn]),
        width="stretch",
        key="compared",
        alt="Published values against this study's values, with the line on which they are equal",
    )
    text.muted("Gaps, effects, rates and correlations; counts and lengths are in the table only.")
else:
    text.note("No published value has one of this study beside it: its encoders, languages or agents are others.")

chosen = st.multiselect(
    "Tables", tables, format_func=lambda name: published.TITLES.get(f"table_{name:>02}", name), key="tables"
)
shown = sorted(
    (row for row in records if not chosen or row["table"] in chosen), key=lambda row: row["estimate"] is None
)
st.html(
    text.table(
        [
            row
            | {
                "estimate": text.fixed(row["estimate"], 4),
                "interval": text.interval(row["ci_low"], row["ci_high"]),
                "published_value": published.printed(row["published_value"]),
                "difference": text.signed(row["difference"]),
            }
            for row in shown
        ],
        {
            "table": "Table",
            "row": "Row",
            "column": "Column",
            "estimate": "Ours",
            "interval": "Interval",
            "published_value": "Published",
            "difference": "Difference",
            "note": "What is missing",
        },
        numbers=("estimate", "interval", "published_value", "difference"),
    )
)
text.muted("Every published cell once, ours first, and what would fill those that this study leaves empty.")
exhibit.numbers(answer, "comparison")
