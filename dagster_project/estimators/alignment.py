"""How well each instrument ranks pairs as people label them [paper F.8, Table 27]."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from dagster_project.estimators.grouped import Rows, groups, pooled_and_by
from dagster_project.estimators.resampled import (
    INTERVAL_FIELDS,
    Estimate,
    Settings,
    auc,
    estimated,
    item_counts,
    spearman,
)

INSTRUMENT_ALIGNMENT_SCHEMA = pa.schema(
    [
        pa.field("instrument_kind", pa.string(), nullable=False),
        pa.field("instrument", pa.string(), nullable=False),
        pa.field("field", pa.string(), nullable=False),
        pa.field("language", pa.string()),
        pa.field("measure", pa.string(), nullable=False),
        pa.field("n_pairs", pa.int64(), nullable=False),
        pa.field("n_positive", pa.int64()),
        *INTERVAL_FIELDS,
    ]
)

REPEATED, STRICT = 2, 3
"""The lowest label of each collapse: repeated is {2, 3}, strict is {3}."""

_CONSTANT = "All values or all labels are equal, so there is no rank correlation."
_ONE_CLASS = "All pairs are on one side of the collapse, so nothing can be told apart."


def alignment_table(values: pa.Table, settings: Settings) -> pa.Table:
    """One row in ``INSTRUMENT_ALIGNMENT_SCHEMA`` per instrument, field, language and measure.

    ``values`` has the columns instrument_kind, instrument, field, motion_id, language, value and label (0 to 3), one
    row per labelled pair and instrument. Language NULL pools all languages. The measures are spearman, auc_repeated
    (label 2 or 3) and auc_strict (label 3), which pairs of equal value enter as half. One that is not defined keeps
    its row, with its reason in ``interval_note``.
    """
    rows = []
    for instrument, members in groups(values, ["instrument_kind", "instrument", "field"]):
        for language, part in pooled_and_by(members, "language"):
            for measure, n_positive, found in _measures(part, settings):
                named = {"language": language, "measure": measure, "n_pairs": len(part["label"])}
                rows.append(instrument | named | {"n_positive": n_positive} | found.columns(settings))
    return pa.Table.from_pylist(rows, schema=INSTRUMENT_ALIGNMENT_SCHEMA)


def _measures(part: Rows, settings: Settings) -> Iterator[tuple[str, int | None, Estimate]]:
    value = np.asarray(part["value"], dtype=np.float64)
    label = np.asarray(part["label"], dtype=np.float64)
    counts, n_motions = item_counts(part["motion_id"], settings)
    yield "spearman", None, estimated(spearman(value, label, counts), n_motions, settings, _CONSTANT)
    for name, lowest in (("auc_repeated", REPEATED), ("auc_strict", STRICT)):
        positive = label >= lowest
        yield (
            name,
            int(positive.sum()),
            estimated(auc(value, positive, counts), n_motions, settings, _ONE_CLASS),
        )
