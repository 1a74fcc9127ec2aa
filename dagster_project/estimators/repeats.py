"""How far repeats of one debate differ: the noise that a gap has to be read against [paper E.8, E.9]."""

import numpy as np
import pyarrow as pa

from dagster_project.estimators.grouped import groups, pooled_and_by
from dagster_project.estimators.resampled import (
    INTERVAL_FIELDS,
    Settings,
    estimated,
    item_counts,
    no_estimate,
    weighted_means,
)

_MEASURE = ["extractor", "encoder", "field", "variant", "aggregate"]

REPEAT_NOISE_SCHEMA = pa.schema(
    [
        *(pa.field(name, pa.string(), nullable=False) for name in _MEASURE),
        pa.field("language", pa.string()),
        pa.field("n_cells", pa.int64(), nullable=False),
        pa.field("n_sessions", pa.int64(), nullable=False),
        *INTERVAL_FIELDS,
    ]
)

_NO_REPEATS = "No motion, language and condition was debated more than once, so repeats cannot be compared."


def repeat_noise_table(sessions: pa.Table, settings: Settings) -> pa.Table:
    """One row in ``REPEAT_NOISE_SCHEMA`` per measure and language, and one for all languages (NULL).

    ``sessions`` has one row per session and measure: extractor, encoder, field, variant, aggregate, motion_id,
    language, condition and similarity. The estimate is the standard deviation over the repeats of a motion, language
    and condition: the root of the pooled variance within these cells, each with its repeats less one as weight. The
    interval resamples motions. Cells with one session have no spread and are left out. Source: section E.9 of the
    paper.
    """
    rows: list[dict[str, object]] = []
    for measure, members in groups(sessions, _MEASURE):
        for language, part in pooled_and_by(members, "language"):
            spreads, freedom, motions, n_sessions = [], [], [], 0
            for cell, repeats in groups(part, ["motion_id", "language", "condition"]):
                if len(repeats["similarity"]) > 1:
                    spreads.append(np.var(repeats["similarity"], ddof=1))
                    freedom.append(len(repeats["similarity"]) - 1)
                    motions.append(cell["motion_id"])
                    n_sessions += len(repeats["similarity"])
            if spreads:
                counts, n_motions = item_counts(motions, settings)
                variance = weighted_means(np.array(spreads), np.array(freedom, dtype=np.float64), counts)
                found = estimated(np.sqrt(variance), n_motions, settings, _NO_REPEATS)
            else:
                found = no_estimate(0, _NO_REPEATS)
            about = {"language": language, "n_cells": len(spreads), "n_sessions": n_sessions}
            rows.append(measure | about | found.columns(settings))
    return pa.Table.from_pylist(rows, schema=REPEAT_NOISE_SCHEMA)
