"""How often similarities reach the high tail, by language [paper 4.3, F.3]."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dagster_project.estimators.bootstrap import TIE
from dagster_project.estimators.grouped import groups
from dagster_project.estimators.resampled import INTERVAL_FIELDS, Settings, estimated, motion_counts

PERCENTILES = (80, 90, 95)

_MEASURE = ["condition", "extractor", "encoder", "field", "scorer"]

TAIL_RATES_SCHEMA = pa.schema(
    [
        *(pa.field(name, pa.string(), nullable=False) for name in _MEASURE),
        pa.field("percentile", pa.int32(), nullable=False),
        pa.field("quantity", pa.string(), nullable=False),
        pa.field("language", pa.string(), nullable=False),
        pa.field("reference_language", pa.string(), nullable=False),
        pa.field("threshold", pa.float64(), nullable=False),
        pa.field("n_pairs", pa.int64(), nullable=False),
        *INTERVAL_FIELDS,
    ]
)

_NO_PAIRS = "A resample without a pair in one of the languages has no rate there."


def tail_rates_table(pairs: pa.Table, reference_language: str, settings: Settings) -> pa.Table:
    """Rates of a language, of the reference language and their difference, by measure and percentile.

    Rows are in ``TAIL_RATES_SCHEMA``.

    ``pairs`` has one row per pair and scorer: condition, extractor, encoder, field, scorer, motion_id, language and
    value, the scorer's own value of the pair. The threshold is the percentile of the values of the language and the
    reference language together, and a value that reaches it, but for rounding, is in the tail. Motions are resampled
    with the threshold kept. Source: section F.3 of the paper.
    """
    rows: list[dict[str, object]] = []
    for measure, members in groups(pairs, _MEASURE):
        value = np.asarray(members["value"], dtype=np.float64)
        spoken = np.asarray(members["language"], dtype=object)
        motion = np.asarray(members["motion_id"], dtype=object)
        there = spoken == reference_language
        for language in sorted(set(spoken) - {reference_language}) if there.any() else ():
            here = spoken == language
            used = here | there
            of_motion = np.unique(motion[used], return_inverse=True)[1]
            n_motions = int(of_motion.max()) + 1
            counts = motion_counts(n_motions, settings)
            for percentile in PERCENTILES:
                threshold = float(np.percentile(value[used], percentile))
                rates = {
                    name: _rates(value[used] >= threshold - TIE, side[used], of_motion, counts)
                    for name, side in (("rate", here), ("reference_rate", there))
                }
                sizes = {"rate": here.sum(), "reference_rate": there.sum(), "difference": used.sum()}
                for quantity, replicates in (rates | {"difference": rates["rate"] - rates["reference_rate"]}).items():
                    key = {"percentile": percentile, "quantity": quantity, "threshold": threshold}
                    languages = {"language": language, "reference_language": reference_language}
                    found = estimated(replicates, n_motions, settings, _NO_PAIRS).columns(settings)
                    rows.append(measure | key | languages | {"n_pairs": int(sizes[quantity])} | found)
    return pa.Table.from_pylist(rows, schema=TAIL_RATES_SCHEMA)


def _rates(
    in_tail: NDArray[np.bool_], side: NDArray[np.bool_], of_motion: NDArray[np.int64], counts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The share of one side's pairs in the tail, in each row of ``counts`` (rows, n_motions)."""
    n_motions = counts.shape[1]
    total = counts @ np.bincount(of_motion, side, n_motions)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, counts @ np.bincount(of_motion, side & in_tail, n_motions) / total, np.nan)
