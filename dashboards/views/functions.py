"""What pairs of high similarity do in a debate: restate, answer, refine or refer."""

import streamlit as st

from dashboards import charts, exhibit, text
from dashboards.study import load_study
from dashboards.warehouse import query

study = load_study()
shares = query("function_shares")
records = shares.records()
if not records:
    text.note(
        "No judge has said what pairs of high similarity do; `reprise judge functions` asks one "
        "(docs/human-audits.md).",
        "warning",
    )
    st.stop()


def plain(name: str) -> str:
    return name.replace("_", " ")


for place, judge in enumerate(dict.fromkeys(row["judge"] for row in records)):
    text.heading(judge)
    st.altair_chart(
        charts.shares(
            [
                {**row, "group": study.language(row["language"]).name, "part": plain(row["function"])}
                for row in records
                if row["judge"] == judge
            ],
            order=[language.name for language in study.languages.values()],
            title="Share of the language's judged pairs",
        ),
        width="stretch",
        key=f"functions-{place}",
        alt="What pairs of high similarity do, one bar a language",
    )
text.muted(
    "Pairs of the high tail, each with one main function by a model judge. Most of a tail may be answers and "
    "refinements: a high similarity is then the mark of engagement and not of repetition."
)
exhibit.numbers(shares, "function-shares")

st.subheader("Examples")
examples = query("function_examples")
for row in examples.records():
    language = study.language(row["language"])
    text.heading(plain(row["function"]), level=4)
    text.muted(f"{language.name}, {row['judge']}: {row['rationale'] or 'no reason given'}")
    for column, claim in zip(st.columns(2, gap="large"), (row["earlier_claim"], row["later_claim"]), strict=True):
        with column:
            st.html(text.passage(claim, language.code, language.direction))
text.muted("Two pairs of each function and language, the earlier claim on the left.")
exhibit.numbers(examples, "function-examples")
