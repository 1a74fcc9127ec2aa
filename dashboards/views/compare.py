"""Every published number beside this study's: how far apart they are, and what is missing."""

import streamlit as st

from dashboards import charts, exhibit, published, text
from dashboards.warehouse import query

answer = query("compared_cells")
every = answer.records()
if not every:
    exhibit.nothing("published value")
    st.stop()

names = {row["language"]: row["name"] for row in query("languages").records()}
of_table, of_language = st.columns(2)
with of_table:
    tables = st.multiselect(
        "Tables",
        list(dict.fromkeys(row["table"] for row in every)),
        format_func=lambda name: published.TITLES.get(f"table_{name:>02}", name),
        placeholder="All tables",
        key="tables",
    )
with of_language:
    languages = st.multiselect(
        "Languages",
        sorted({row["language"] for row in every if row["language"]}, key=lambda code: names.get(code, code)),
        format_func=lambda code: text.label(names.get(code, code)),
        placeholder="All languages",
        key="languages",
    )
records = [
    row for row in every if (not tables or row["table"] in tables) and (not languages or row["language"] in languages)
]
if not records:
    text.note("No published value is of these tables and these languages: choose others.")
    st.stop()

both = [row for row in records if row["estimate"] is not None and row["published_estimate"] is not None]
# Counts, rates and lengths are printed without a sign; that ours are positive too says nothing.
differences = [row for row in both if row["published_value"].startswith(("+", "-"))]
same_sign = sum((row["estimate"] > 0) == (row["published_estimate"] > 0) for row in differences)
with_interval = [row for row in both if row["ci_low"] is not None]
within = sum(row["ci_low"] <= row["published_estimate"] <= row["ci_high"] for row in with_interval)
for column, (title, value) in zip(
    st.columns(4),
    {
        "Published values": f"{sum(row['published_value'] is not None for row in records):,}",
        "With ours beside them": f"{len(both):,}",
        "Differences of one sign": f"{same_sign:,} of {len(differences):,}",
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

ours_first = sorted(records, key=lambda row: row["estimate"] is None)
st.html(
    text.table(
        [
            shown | {"difference": text.signed(row["difference"])}
            for row, shown in zip(ours_first, published.presented(ours_first), strict=True)
        ],
        {
            "table": "Table",
            "row": "Row",
            "column": "Column",
            "estimate": "Ours",
            "interval": "Interval",
            "published_value": "Published",
            "difference": "Difference",
            "note": "What is missing or uncertain",
        },
        numbers=("estimate", "interval", "published_value", "difference"),
    )
)
text.muted("Every published cell once, ours first, and what would fill those that this study leaves empty.")
exhibit.numbers(answer, "comparison")
