"""Whether a condition changes how much is said: fewer arguments would make a lower similarity cheap [paper 4.4]."""

import numpy as np
import pyarrow as pa

from dagster_project.estimators.grouped import groups
from dagster_project.estimators.resampled import INTERVAL_FIELDS, Settings, estimated, item_counts, weighted_means

_ABOUT = ["measure", "language", "condition", "reference_condition", "extractor"]

OUTPUT_VOLUME_SCHEMA = pa.schema(
    [
        *(pa.field(name, pa.string(), nullable=name == "extractor") for name in _ABOUT),
        pa.field("mean_amount", pa.float64(), nullable=False),
        pa.field("reference_mean_amount", pa.float64(), nullable=False),
        *INTERVAL_FIELDS,
    ]
)


def output_volume_table(volume_contrasts: pa.Table, settings: Settings) -> pa.Table:
    """One row in ``OUTPUT_VOLUME_SCHEMA`` per measure, language, condition and extractor (NULL where none is involved).

    ``volume_contrasts`` has one row per motion and these keys: the amount per turn under the condition (amount) and
    under the baseline (reference_amount). The estimate is the mean difference over motions, condition − baseline; the
    interval resamples motions.
    """
    rows: list[dict[str, object]] = []
    for about, motions in groups(volume_contrasts, _ABOUT):
        amounts, reference = (np.array(motions[name], dtype=np.float64) for name in ("amount", "reference_amount"))
        counts, n_motions = item_counts(motions["motion_id"], settings)
        differences = weighted_means(amounts - reference, np.ones(len(amounts)), counts)
        found = estimated(differences, n_motions, settings, "No motion was debated under both conditions.")
        means = {"mean_amount": float(amounts.mean()), "reference_mean_amount": float(reference.mean())}
        rows.append(about | means | found.columns(settings))
    return pa.Table.from_pylist(rows, schema=OUTPUT_VOLUME_SCHEMA)
