import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

from dagster_project.estimators.regression import (
    CONTROLS,
    design,
    fit_mixed,
    fit_ols,
    refit_on_resamples,
    regression_table,
)
from dagster_project.estimators.resampled import Settings

TEMPLATE = [
    ("opening", "con_1", "con"), ("rebuttal", "pro_1", "pro"), ("rebuttal", "con_1", "con"), ("cross", "pro_2", "pro"),
    ("cross", "con_2", "con"), ("closing", "pro_2", "pro"), ("closing", "con_2", "con"),
]  # fmt: skip
ROLES = ["pro_1", "con_1", "pro_2", "con_2"]
SETTINGS = Settings(n_resamples=400, seed=42)
FORMULA = "y ~ zh + C(phase) + C(agent) + C(role) + C(motion_id)"


def turns(n_motions: int = 12, gap: float = 0.05, seed: int = 3, missing: float = 0.05) -> pd.DataFrame:
    """Baseline turns 2 to 8 in two languages, with planted effects of language, motion, agent and pool size."""
    rng = np.random.default_rng(seed)
    rows = []
    for motion in range(n_motions):
        level, order = rng.normal(0.7, 0.05), rng.permutation(["a", "b", "c", "d"])
        for language in ("en", "zh"):
            for number, (phase, role, side) in enumerate(TEMPLATE, start=2):
                if rng.uniform() < missing:
                    continue
                n = int(rng.integers(1, 5))
                rows.append(
                    {
                        "motion_id": f"M{motion:02}", "language": language, "phase": phase, "role": role, "side": side,
                        "agent": order[ROLES.index(role)], "n_arguments": n,
                        "prior_pool_size": 3 * number + int(rng.integers(0, 4)),
                        "mean_claim_length": rng.normal(30 if language == "zh" else 90, 10),
                        "empty_warrant_rate": rng.integers(0, n + 1) / n,
                        "empty_evidence_rate": rng.integers(0, n + 1) / n,
                        "sentence_count": int(rng.integers(4, 7)),
                        "mean_arg_max_prev": level + gap * (language == "zh") + 0.004 * number + rng.normal(0, 0.04),
                    }
                )  # fmt: skip
    return pd.DataFrame(rows).assign(condition="baseline", extractor="x", encoder="e", field="claim", variant="raw")


def rows(frame: pd.DataFrame) -> dict[str, list]:
    return frame.to_dict("list")


@pytest.mark.parametrize("controls", [False, True])
def test_coefficients_and_clustered_errors_are_those_of_statsmodels_formulas(controls: bool) -> None:
    frame = turns().assign(y=lambda f: f["mean_arg_max_prev"], zh=lambda f: (f["language"] == "zh").astype(float))
    formula = FORMULA + (" + " + " + ".join(CONTROLS) if controls else "")
    codes = frame["motion_id"].astype("category").cat.codes
    expected = smf.ols(formula, frame).fit(cov_type="cluster", cov_kwds={"groups": codes})
    fit = fit_ols(design(rows(frame), "zh", "C" if controls else "B"), 0.95)
    assert fit.names[0] == "language"
    assert fit.estimate[0] == pytest.approx(expected.params["zh"], abs=1e-10)
    for name in CONTROLS if controls else ():
        place = fit.names.index(name)
        assert fit.estimate[place] == pytest.approx(expected.params[name], abs=1e-8)
    # The formula's design keeps a dependent column, and its small-sample factor counts it.
    n, k = expected.model.exog.shape
    counted = np.sqrt((n - k) / (n - np.linalg.matrix_rank(expected.model.exog)))
    assert k - np.linalg.matrix_rank(expected.model.exog) == 1
    assert fit.std_error[0] == pytest.approx(expected.bse["zh"] * counted, abs=1e-6)


def test_columns_that_depend_on_others_are_dropped_by_name_and_the_later_one_goes() -> None:
    given = design(rows(turns(missing=0)), "zh", "B")
    # The second half of the debate belongs to the second speakers, and every role is on one side.
    assert given.dropped == ("role[pro_2]", "side[pro]")
    full = np.column_stack([given.regressors, np.eye(12)[given.motion]])
    assert np.linalg.matrix_rank(full) == full.shape[1]


def test_the_language_alone_is_the_difference_of_means() -> None:
    frame = turns()
    fit = fit_ols(design(rows(frame), "zh", "A"), 0.95)
    means = frame.groupby("language")["mean_arg_max_prev"].mean()
    assert fit.estimate[0] == pytest.approx(means["zh"] - means["en"], abs=1e-12)


def test_refits_by_sums_of_each_motion_are_refits_of_the_resampled_rows() -> None:
    frame = turns()
    given = design(rows(frame), "zh", "C")
    drawn = np.random.default_rng(1).integers(0, 12, size=(20, 12))
    counts = np.stack([np.bincount(draw, minlength=12) for draw in drawn]).astype(float)
    replicates = refit_on_resamples(given, counts)
    motions = np.sort(frame["motion_id"].unique())
    for draw, replicate in zip(drawn, replicates, strict=True):
        copies = [frame[frame["motion_id"] == motions[m]].assign(motion_id=f"copy {c}") for c, m in enumerate(draw)]
        resampled = pd.concat(copies).assign(
            y=lambda f: f["mean_arg_max_prev"], zh=lambda f: (f["language"] == "zh").astype(float)
        )
        expected = smf.ols(FORMULA + " + " + " + ".join(CONTROLS), resampled).fit()
        assert replicate[0] == pytest.approx(expected.params["zh"], abs=1e-8)


def test_the_mixed_model_with_motion_effects_is_singular_and_agrees_with_ols() -> None:
    given = design(rows(turns()), "zh", "B")
    mixed, ols = fit_mixed(given, 0.95), fit_ols(given, 0.95)
    assert mixed.singular
    assert mixed.estimate[0] == pytest.approx(ols.estimate[0], abs=1e-6)


def test_a_resample_without_the_motion_that_tells_a_control_apart_has_no_value_for_it() -> None:
    frame = turns()
    # Only one motion has any evidence, so only draws of that motion say what evidence does.
    only = frame["motion_id"] == "M04"
    frame["empty_evidence_rate"] = np.where(only, frame["empty_evidence_rate"], 1.0)
    given = design(rows(frame), "zh", "C")
    with_it, without = np.ones((2, 12))
    without[[4, 5]] = 0, 2
    replicates = refit_on_resamples(given, np.stack([with_it, without]))
    evidence = given.names.index("empty_evidence_rate")
    assert np.isnan(replicates[:, evidence]).tolist() == [False, True]
    assert np.isfinite(np.delete(replicates, evidence, axis=1)).all()
    drawn = pd.concat([frame[~only], frame[frame["motion_id"] == "M05"].assign(motion_id="copy")]).assign(
        y=lambda f: f["mean_arg_max_prev"], zh=lambda f: (f["language"] == "zh").astype(float)
    )
    others = [name for name in CONTROLS if name != "empty_evidence_rate"]
    expected = smf.ols(FORMULA + " + " + " + ".join(others), drawn).fit()
    assert replicates[1, 0] == pytest.approx(expected.params["zh"], abs=1e-8)

    table = regression_table(pa.Table.from_pandas(frame, preserve_index=False), "en", SETTINGS).to_pylist()
    boot = {row["term"]: row for row in table if row["specification"] == "C_bootstrap"}
    assert boot["empty_evidence_rate"]["interval_status"] == "no_interval"
    assert "resamples have no value" in boot["empty_evidence_rate"]["interval_note"]
    assert boot["empty_evidence_rate"]["std_error"] is None
    assert boot["language"]["ci_low"] < boot["language"]["estimate"] < boot["language"]["ci_high"]


def test_turns_that_the_columns_account_for_exactly_have_a_coefficient_and_no_interval() -> None:
    frame = turns()
    frame["mean_arg_max_prev"] = (
        0.5 + 0.05 * (frame["language"] == "zh") + 0.01 * frame["motion_id"].str[1:].astype(int)
    )
    table = regression_table(pa.Table.from_pandas(frame, preserve_index=False), "en", SETTINGS).to_pylist()
    for row in table:
        if row["specification"] != "A":
            assert row["estimate"] == pytest.approx(0.05 if row["term"] == "language" else 0, abs=1e-9)
            assert row["std_error"] is row["ci_low"] is row["ci_high"] is row["ci_excludes_zero"] is None
            assert "account for every turn exactly" in row["interval_note"]
    assert next(row for row in table if row["specification"] == "A")["ci_low"] is not None


def test_a_turn_without_one_of_the_numbers_is_refused_by_name() -> None:
    frame = turns()
    frame.loc[3, "prior_pool_size"] = np.nan
    with pytest.raises(ValueError, match=f"1 of {len(frame)} turns have no prior_pool_size"):
        regression_table(pa.Table.from_pandas(frame, preserve_index=False), "en", SETTINGS)


def test_the_errors_of_a_singular_mixed_model_are_those_of_ols_without_clusters() -> None:
    given = design(rows(turns()), "zh", "B")
    ols = sm.OLS(given.outcome, np.column_stack([given.regressors, np.eye(12)[given.motion]])).fit()
    assert fit_mixed(given, 0.95).std_error[0] == pytest.approx(ols.bse[0], rel=1e-3)


def test_on_complete_data_the_fixed_effects_coefficient_is_the_mean_of_turn_means() -> None:
    frame = turns(missing=0)
    means = frame.groupby(["motion_id", "language"])["mean_arg_max_prev"].mean().unstack()
    fit = fit_ols(design(rows(frame), "zh", "B"), 0.95)
    assert fit.estimate[0] == pytest.approx((means["zh"] - means["en"]).mean(), abs=1e-12)


def test_planted_gaps_lie_in_their_intervals_about_as_often_as_they_should() -> None:
    covered = 0
    for seed in range(60):
        fit = fit_ols(design(rows(turns(n_motions=30, seed=seed)), "zh", "B"), 0.95)
        covered += fit.low[0] <= 0.05 <= fit.high[0]
    assert 51 <= covered <= 60


def test_the_table_has_every_specification_and_names_what_is_dropped() -> None:
    table = regression_table(pa.Table.from_pandas(turns(), preserve_index=False), "en", SETTINGS)
    found = {(row["specification"], row["term"]): row for row in table.to_pylist()}
    assert {name for name, _ in found} == {"A", "B", "C", "C_bootstrap", "mixed"}
    assert {term for name, term in found if name == "C"} == {"language", *CONTROLS} - {
        name for name in CONTROLS if name in found["C", "language"]["dropped_columns"]
    }
    assert all(row["interval_status"] == "too_few_clusters" for row in found.values())
    assert "take turns for independent" in found["mixed", "language"]["interval_note"]
    assert found["mixed", "language"]["singular"] and found["B", "language"]["singular"] is None
    boot = found["C_bootstrap", "language"]
    assert boot["ci_low"] < boot["estimate"] < boot["ci_high"]
    assert boot["estimate"] == pytest.approx(found["C", "language"]["estimate"], abs=0.005)


@pytest.mark.parametrize(
    ("case", "refused"),
    [
        ("one motion", {"A", "B", "C", "C_bootstrap", "mixed"}),
        # The language alone needs no motion in common.
        ("no shared motion", {"B", "C", "C_bootstrap", "mixed"}),
        ("constant", {"A", "B", "C", "C_bootstrap", "mixed"}),
        ("one turn each", set()),
    ],
)
def test_what_cannot_be_estimated_has_a_reason_and_no_number(case: str, refused: set[str]) -> None:
    frame = turns()
    if case == "one motion":
        frame = turns(n_motions=1)
    elif case == "no shared motion":
        frame = frame[(frame["language"] == "zh") == (frame["motion_id"] < "M06")]
    elif case == "constant":
        frame["mean_arg_max_prev"] = 0.5
    else:
        frame = frame.groupby(["motion_id", "language"]).head(1)
    table = regression_table(pa.Table.from_pandas(frame, preserve_index=False), "en", SETTINGS)
    assert table.num_rows >= 4
    for row in table.to_pylist():
        values = [row[name] for name in ("estimate", "std_error", "ci_low", "ci_high")]
        assert all(value is None for value in values) == (row["interval_status"] == "no_interval")
        assert not any(value is not None and np.isnan(value) for value in values)
        assert row["interval_note"]
    found = {row["specification"] for row in table.to_pylist() if row["interval_status"] == "no_interval"}
    assert found == refused


def test_no_turns_give_no_rows() -> None:
    empty = pa.Table.from_pandas(turns(), preserve_index=False).slice(0, 0)
    assert regression_table(empty, "en", SETTINGS).num_rows == 0
