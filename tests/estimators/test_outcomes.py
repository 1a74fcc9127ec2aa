"""Similarity and judged quality: against scipy, another way to the clustered slope, and where nothing can be said."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import spearmanr
from scipy.stats import t as student

from dagster_project.estimators.bootstrap import cluster_bootstrap_means
from dagster_project.estimators.outcomes import OUTCOME_ASSOCIATIONS_SCHEMA, outcome_associations_table
from dagster_project.estimators.resampled import Settings

SETTINGS = Settings(n_resamples=200, seed=6, min_clusters=5)
MEASURE = {"judge": "j", "dimension": "engagement", "extractor": "x", "encoder": "e", "field": "claim"}
SESSIONS = pa.schema(
    [
        *((name, pa.string()) for name in (*MEASURE, "motion_id", "language", "condition")),
        ("score", pa.int32()),
        ("similarity", pa.float64()),
    ]
)
CONTRASTS = pa.schema(
    [
        *(
            (name, pa.string())
            for name in (
                "analysis", "judge", "dimension", "language", "reference_language", "condition",
                "reference_condition", "motion_id",
            )
        ),
        ("difference", pa.float64()),
    ]
)  # fmt: skip


def sessions(n_motions: int = 14, seed: int = 8) -> list[dict]:
    rng = np.random.default_rng(seed)
    rows = []
    for motion in range(n_motions):
        level = rng.normal(0, 0.1)
        for language in ("en", "zh"):
            for condition in ("baseline", "diversity"):
                similarity = 0.6 + level + rng.normal(0, 0.03)
                score = int(np.clip(np.rint(7 - 20 * (similarity - 0.6 - level) + rng.normal(0, 0.7)), 1, 10))
                place = {"motion_id": f"m{motion:02d}", "language": language, "condition": condition}
                rows.append(MEASURE | place | {"score": score, "similarity": similarity})
    return rows


def associations(rows: list[dict], contrasts: list[dict] = ()) -> list[dict]:
    table = outcome_associations_table(
        pa.Table.from_pylist(rows, schema=SESSIONS),
        pa.Table.from_pylist(list(contrasts), schema=CONTRASTS),
        "baseline",
        SETTINGS,
    )
    assert table.schema == OUTCOME_ASSOCIATIONS_SCHEMA
    return table.to_pylist()


def slope_of(rows: list[dict]) -> dict:
    (slope,) = [row for row in associations(rows) if row["analysis"] == "motion_fe_slope"]
    return slope


def test_spearman_is_within_a_language_and_the_baseline() -> None:
    rows = sessions()
    found = {row["language"]: row for row in associations(rows) if row["analysis"] == "spearman"}
    assert set(found) == {"en", "zh"}
    for language, row in found.items():
        there = [r for r in rows if (r["language"], r["condition"]) == (language, "baseline")]
        expected = spearmanr([r["similarity"] for r in there], [r["score"] for r in there]).statistic
        assert row["estimate"] == pytest.approx(expected, abs=1e-12)
        assert (row["condition"], row["n_sessions"], row["n_motions"]) == ("baseline", 14, 14)
        assert row["ci_low"] < row["estimate"] < row["ci_high"]


def test_the_slope_is_that_of_demeaned_values_with_clustered_errors() -> None:
    """The within estimator by hand: Σx̃ỹ/Σx̃², its sandwich over motions, G/(G−1)·(N−1)/(N−K), t with G−1."""
    rows = sessions()
    motions = np.array([row["motion_id"] for row in rows])
    score, similarity = (np.array([row[name] for row in rows], dtype=float) for name in ("score", "similarity"))
    x = similarity / 0.01
    for motion in set(motions):
        there = motions == motion
        x[there] -= x[there].mean()
        score[there] -= score[there].mean()
    slope = (x @ score) / (x @ x)
    residual = score - slope * x
    n, k, g = len(rows), len(set(motions)) + 1, len(set(motions))
    meat = sum((x[motions == motion] @ residual[motions == motion]) ** 2 for motion in set(motions))
    error = np.sqrt(meat * g / (g - 1) * (n - 1) / (n - k)) / (x @ x)
    found = slope_of(rows)
    assert found["estimate"] == pytest.approx(slope, abs=1e-10)
    assert found["std_error"] == pytest.approx(error, rel=1e-9)
    assert found["p_value"] == pytest.approx(2 * student.sf(abs(slope / error), g - 1), rel=1e-8)
    half = student.ppf(0.975, g - 1) * error
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((slope - half, slope + half))
    assert found["estimate"] == pytest.approx(-0.2, abs=0.06)
    assert (found["language"], found["condition"], found["n_sessions"]) == (None, None, 56)


@pytest.mark.parametrize(
    ("change", "note"),
    [
        ({"motion_id": "m00"}, "Only one motion"),
        ({"similarity": 0.5}, "does not vary within any motion"),
        ({"score": 8}, "All scores are 8"),
    ],
)
def test_a_slope_that_cannot_be_estimated_says_why(change: dict, note: str) -> None:
    found = slope_of([row | change for row in sessions()])
    assert (found["estimate"], found["std_error"], found["p_value"]) == (None, None, None)
    assert note in found["interval_note"]


def test_one_session_a_motion_leaves_no_slope() -> None:
    found = slope_of([row for row in sessions() if (row["language"], row["condition"]) == ("en", "baseline")])
    assert found["estimate"] is None and found["interval_note"]


def test_a_judge_that_gives_one_score_has_no_rank_correlation() -> None:
    rows = [row | {"score": 9} for row in sessions()]
    for row in associations(rows):
        assert row["estimate"] is None and row["interval_note"]


def test_payoffs_are_means_over_motions_with_the_intervals_of_the_gaps() -> None:
    differences = np.random.default_rng(1).integers(-1, 3, 12).astype(float)
    key = {
        "analysis": "difference_in_differences",
        "judge": "j",
        "dimension": "engagement",
        "language": "zh",
        "reference_language": "en",
        "condition": "diversity",
        "reference_condition": "baseline",
    }
    contrasts = [key | {"motion_id": f"m{i:02d}", "difference": value} for i, value in enumerate(differences)]
    (found,) = associations([], contrasts)
    theirs = cluster_bootstrap_means(differences[:, np.newaxis], 200, 6)
    assert found["estimate"] == theirs.estimate[0]
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((theirs.ci_low[0], theirs.ci_high[0]))
    assert {name: found[name] for name in key} == key
    assert (found["n_motions"], found["encoder"]) == (12, None)
