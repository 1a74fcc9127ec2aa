"""The language gaps of a published warehouse as a table for the terminal."""

from pathlib import Path

import duckdb

_GAPS = """
select
    encoder,
    languages.name || ' − ' || reference.name as contrast,
    printf('%+.4f', estimate) as gap,
    coalesce(printf('[%+.4f, %+.4f]', ci_low, ci_high), '—') as interval,
    case when ci_excludes_zero then '*' else '' end as mark,
    n_motions as motions,
    interval_status,
from marts.gap_estimates
inner join marts.languages using (language)
inner join marts.languages as reference on reference.language = gap_estimates.reference_language
where
    contrast = 'language_gap' and variant = 'raw' and field = 'claim' and aggregate = 'agent_mean'
    and condition = (select baseline_condition from marts.study)
order by encoder, gap_estimates.language
"""


def gaps_table(warehouse: Path) -> str:
    """Baseline language gaps (claims, mean over agents) with their bootstrap intervals, ready to print."""
    with duckdb.connect(warehouse, read_only=True) as database:
        rows = database.sql(_GAPS)
        header, body = rows.columns, rows.fetchall()
        confidence, min_clusters = database.sql("select confidence, min_clusters from marts.study").fetchall()[0]
    header[header.index("interval")] = f"{confidence:.0%} interval"
    cells = [list(header), *[[str(value) for value in row] for row in body]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    lines.insert(1, "  ".join("─" * width for width in widths))
    if any(row[-1] == "too_few_clusters" for row in body):
        lines.append(f"Fewer than {min_clusters} motions: these intervals are indicative only.")
    return "\n".join(
        [
            "Language gaps in prior-argument similarity: baseline condition, claims, mean over agents.",
            "Positive: later turns return to earlier arguments more than in the reference language.",
            "* the interval excludes zero",
            *lines,
        ]
    )
