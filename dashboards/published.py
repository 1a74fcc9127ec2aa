"""The paper's tables as they are shown, on the page and in the study report: which column says what, in which form."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from dashboards import text

TITLES = {
    "comparison": "All tables at once",
    "decoding": "Decoding settings in equal contexts",
    "repeat_stability": "Repeats: noise and movement",
    "table_01": "Table 1: the gap under variants of the measure",
    "table_02": "Table 2: calibration in one view",
    "table_03": "Table 3: language gaps to English",
    "table_04": "Table 4: pooled Chinese–English gap",
    "table_05": "Table 5: language gaps within each agent",
    "table_06": "Table 6: agent against agent, Chinese–English gap",
    "table_07": "Table 7: gaps without flagged translations",
    "table_08": "Table 8: effect of the diversity prompt within language",
    "table_09": "Table 9: effect of the diversity prompt on the Chinese–English gap",
    "table_10": "Table 10: the gap under each prompt condition",
    "table_11": "Table 11: change of the gap from the baseline",
    "table_17": "Table 17: the gap by bootstrap, fixed effects and mixed model",
    "table_18": "Table 18: translated and rescored",
    "table_19": "Table 19: sentence counts and lengths",
    "table_20": "Table 20: agreement of encoders",
    "table_21": "Table 21: z-scored gaps",
    "table_22": "Table 22: pairs in the high tail",
    "table_23": "Table 23: what the extractor made of turns",
    "table_24": "Table 24: the gap under controls for the extraction",
    "table_25": "Table 25: a second extractor",
    "table_26": "Table 26: audit of the extraction",
    "table_27": "Table 27: instruments against people's labels",
    "table_28": "Table 28: rates of repetition among labelled pairs",
    "table_29": "Table 29: tail rates and calibrated rates of repetition",
    "table_32": "Table 32: what pairs of high similarity do",
    "table_33": "Table 33: similarity and judged quality",
    "table_34": "Table 34: what the diversity prompt changes",
}
HEADINGS = {
    "estimate": "Estimate",
    "interval": "Interval",
    "ci_excludes_zero": "Excludes zero",
    "n_motions": "Motions",
    "published_value": "Published",
    "published_interval": "Published interval",
    "published_excludes_zero": "Published excludes zero",
}
# What stands in the columns above, formatted; every other column of a report says which row it is.
MEASURES = {*HEADINGS, "ci_low", "ci_high", "interval_status", "interval_note"} | {
    f"published_{name}" for name in ("estimate", "ci_low", "ci_high", "row", "column")
}
# What counts, averages or shares a quantity: it has no sign.
AMOUNT = re.compile(r"n_|mean_|.*(rate|percent)$")


def printed(value: str | None) -> str | None:
    """The estimate as the paper prints it, without the interval that some tables print in the same cell."""
    return value.partition(" [")[0].replace("-", text.MINUS) if value else None


def _ours(record: Mapping[str, Any]) -> str:
    """This study's value: a difference with its sign, an amount without one."""
    published = record.get("published_value")
    name = record.get("measure") or record.get("quantity") or ""
    has_sign = published[0] in "+-" if published else not AMOUNT.match(name)
    if has_sign:
        return text.signed(record.get("estimate"))
    counted = published.isdigit() if published else name.startswith("n_")
    return text.fixed(record.get("estimate"), 0 if counted else 3)


def _plainly(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with its other numbers as short as the estimates."""
    return {key: text.fixed(value, 4) if isinstance(value, float) else value for key, value in record.items()}


def _decimals(value: str | None) -> int:
    """How many decimals the paper prints, so that its interval shows no more than it says."""
    return len((printed(value) or "").partition(".")[2])


def presented(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows of a report with estimates, intervals and published values as text under the keys of `HEADINGS`."""
    return [
        {
            **dict.fromkeys(HEADINGS),
            **_plainly(record),
            "estimate": _ours(record),
            "interval": text.interval(record.get("ci_low"), record.get("ci_high")),
            "published_value": printed(record.get("published_value")),
            "published_interval": text.interval(
                record.get("published_ci_low"),
                record.get("published_ci_high"),
                digits=_decimals(record.get("published_value")),
            ),
        }
        for record in records
    ]


def headings(columns: Sequence[str]) -> dict[str, str]:
    """The columns of a report to show, with their headings: what names the row, then `HEADINGS`."""
    return {column: column.replace("_", " ").capitalize() for column in columns if column not in MEASURES} | HEADINGS
