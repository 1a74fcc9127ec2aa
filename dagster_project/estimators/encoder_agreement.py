"""Whether encoders agree on which turns are similar to what came before [paper F.2]."""

from itertools import combinations

import numpy as np
import pyarrow as pa

from dagster_project.estimators.grouped import groups
from dagster_project.estimators.resampled import INTERVAL_FIELDS, Settings, estimated, item_counts, spearman

_CELL = ["language", "condition", "extractor", "field"]

ENCODER_AGREEMENT_SCHEMA = pa.schema(
    [
        *(pa.field(name, pa.string(), nullable=False) for name in _CELL),
        pa.field("encoder", pa.string(), nullable=False),
        pa.field("reference_encoder", pa.string(), nullable=False),
        pa.field("n_turns", pa.int64(), nullable=False),
        *INTERVAL_FIELDS,
    ]
)

_CONSTANT = "All turns are equally similar under one of the encoders, so there is no rank correlation."


def encoder_agreement_table(turns: pa.Table, settings: Settings) -> pa.Table:
    """One row in ``ENCODER_AGREEMENT_SCHEMA`` per language, condition, extractor, field and pair of encoders.

    ``turns`` has one row per turn and encoder: language, condition, extractor, field, encoder, session_id, turn_index,
    motion_id and mean_arg_max_prev. The estimate is Spearman's correlation over the turns that both encoders scored;
    its interval resamples motions. Source: section F.2 of the paper.
    """
    rows: list[dict[str, object]] = []
    for cell, members in groups(turns, _CELL):
        by_encoder: dict[str, dict[tuple[str, int], float]] = {}
        motion: dict[tuple[str, int], str] = {}
        for encoder, session, turn, motion_id, value in zip(
            *(members[name] for name in ("encoder", "session_id", "turn_index", "motion_id", "mean_arg_max_prev")),
            strict=True,
        ):
            by_encoder.setdefault(encoder, {})[session, turn] = value
            motion[session, turn] = motion_id
        for first, second in combinations(sorted(by_encoder), 2):
            shared = sorted(by_encoder[first].keys() & by_encoder[second].keys())
            counts, n_motions = item_counts([motion[turn] for turn in shared], settings)
            values = (np.array([by_encoder[encoder][turn] for turn in shared]) for encoder in (first, second))
            found = estimated(spearman(*values, counts), n_motions, settings, _CONSTANT)
            pair = {"encoder": first, "reference_encoder": second, "n_turns": len(shared)}
            rows.append(cell | pair | found.columns(settings))
    return pa.Table.from_pylist(rows, schema=ENCODER_AGREEMENT_SCHEMA)
