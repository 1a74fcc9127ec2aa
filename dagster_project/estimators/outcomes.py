"""What similarity has to do with judged quality, and what asking for new arguments buys [paper 4.5, G.2, G.3]."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dagster_project.estimators.bootstrap import replicate_means
from dagster_project.estimators.grouped import Rows, groups
from dagster_project.estimators.regression import Design, few_clusters_note, fit_ols, within_motions
from dagster_project.estimators.resampled import (
    INTERVAL_FIELDS,
    Estimate,
    Settings,
    estimated,
    item_counts,
    no_estimate,
    spearman,
)

OUTCOME_ASSOCIATIONS_SCHEMA = pa.schema(
    [
        pa.field("analysis", pa.string(), nullable=False),
        pa.field("judge", pa.string(), nullable=False),
        pa.field("dimension", pa.string(), nullable=False),
        pa.field("language", pa.string()),
        pa.field("reference_language", pa.string()),
        pa.field("condition", pa.string()),
        pa.field("reference_condition", pa.string()),
        pa.field("extractor", pa.string()),
        pa.field("encoder", pa.string()),
        pa.field("field", pa.string()),
        pa.field("n_sessions", pa.int64()),
        *INTERVAL_FIELDS,
        pa.field("std_error", pa.float64()),
        pa.field("p_value", pa.float64()),
    ]
)

PER_SIMILARITY = 0.01
"""A slope is the change in score that goes with this much similarity."""

_MEASURE = ["judge", "dimension", "extractor", "encoder", "field"]
_CONTRAST = [
    "analysis", "judge", "dimension", "language", "reference_language", "condition", "reference_condition",
]  # fmt: skip

_CONSTANT = "All scores or all similarities are equal, so there is no rank correlation."


def outcome_associations_table(
    sessions: pa.Table, contrasts: pa.Table, baseline_condition: str, settings: Settings
) -> pa.Table:
    """One row in ``OUTCOME_ASSOCIATIONS_SCHEMA`` per analysis and what it is about.

    ``sessions`` has one row per session, judge, dimension and encoder: judge, dimension, extractor, encoder, field,
    motion_id, language, condition, score and similarity. ``contrasts`` has one difference of mean scores per motion:
    analysis, judge, dimension, language, reference_language, condition, reference_condition, motion_id, difference.

    The analyses are spearman (within a language, baseline condition), motion_fe_slope (all sessions, change in score
    per 0.01 of similarity) and the analyses that ``contrasts`` names, each a mean over motions. The slope's interval is
    that of its t distribution; all others resample motions. What cannot be computed keeps its row, with its reason in
    ``interval_note``.
    """
    rows: list[dict[str, object]] = []
    for measure, members in groups(sessions, _MEASURE):
        baseline = [condition == baseline_condition for condition in members["condition"]]
        in_baseline = {
            name: [v for v, use in zip(column, baseline, strict=True) if use] for name, column in members.items()
        }
        for language, part in groups(in_baseline, ["language"]):
            named = {"analysis": "spearman", **language, "condition": baseline_condition}
            rows.append(measure | named | {"n_sessions": len(part["score"])} | _spearman(part, settings))
        slope = {"analysis": "motion_fe_slope", "n_sessions": len(members["score"])}
        rows.append(measure | slope | motion_fe_slope(members, settings))
    for contrast, members in groups(contrasts, _CONTRAST):
        rows.append(contrast | _mean(members, settings))
    return pa.Table.from_pylist(rows, schema=OUTCOME_ASSOCIATIONS_SCHEMA)


def motion_fe_slope(rows: Rows, settings: Settings) -> dict[str, object]:
    """score ~ similarity + C(motion), OLS, errors clustered by motion; slope per ``PER_SIMILARITY``.

    Clustered errors, their small-sample factor G/(G−1) · (N−1)/(N−K) and the t distribution with G−1 degrees of
    freedom are those of statsmodels. Returns the interval columns with std_error and p_value.
    """
    score = np.asarray(rows["score"], dtype=np.float64)
    similarity = np.asarray(rows["similarity"], dtype=np.float64)
    motions, of_motion = np.unique(np.asarray(rows["motion_id"], dtype=object), return_inverse=True)
    reason = _why_no_slope(score, similarity, of_motion)
    if reason:
        return no_estimate(len(motions), reason).columns(settings)
    per_step = (similarity / PER_SIMILARITY)[:, np.newaxis]
    fit = fit_ols(Design(score, per_step, ("similarity",), of_motion, True, ()), settings.confidence, use_t=True)
    low, high = float(fit.low[0]), float(fit.high[0])
    note = few_clusters_note(len(motions), settings.min_clusters)
    found = Estimate(
        value=float(fit.estimate[0]),
        low=low,
        high=high,
        excludes_zero=low > 0 or high < 0,
        n_motions=len(motions),
        status="too_few_clusters" if note else "ok",
        note=note,
    )
    return found.columns(settings) | {"std_error": float(fit.std_error[0]), "p_value": float(fit.p_value[0])}


def _why_no_slope(
    score: NDArray[np.float64], similarity: NDArray[np.float64], of_motion: NDArray[np.int64]
) -> str | None:
    if of_motion.max() == 0:
        return "Only one motion: errors clustered by motion need at least two."
    within = within_motions(similarity[:, np.newaxis], of_motion)
    # What is left of equal similarities within a motion is rounding.
    if np.abs(within).max() < 1e-12:
        return "Similarity does not vary within any motion, so motion effects leave nothing to explain."
    if len(score) <= of_motion.max() + 2:
        return "As many motions and slopes as sessions: nothing is left to estimate errors from."
    if len(np.unique(score)) == 1:
        return f"All scores are {score[0]:g}: the judge made no difference to explain."
    return None


def _spearman(rows: Rows, settings: Settings) -> dict[str, object]:
    counts, n_motions = item_counts(rows["motion_id"], settings)
    score = np.asarray(rows["score"], dtype=np.float64)
    similarity = np.asarray(rows["similarity"], dtype=np.float64)
    return estimated(spearman(similarity, score, counts), n_motions, settings, _CONSTANT).columns(settings)


def _mean(rows: Rows, settings: Settings) -> dict[str, object]:
    counts, n_motions = item_counts(rows["motion_id"], settings)
    differences = np.asarray(rows["difference"], dtype=np.float64)
    means = replicate_means(differences[np.newaxis], counts)[0]
    return estimated(means, n_motions, settings, "No motion has both sides.").columns(settings)
