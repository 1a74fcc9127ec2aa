"""The sample's labels and judgments, from the raw files to the published tables, recomputed with other libraries."""

import csv
import json
from collections import defaultdict

import krippendorff
import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import cohen_kappa_score, roc_auc_score

from tests.end_to_end.conftest import SAMPLE, Workplace

ENCODER = "multilingual-e5-small"
Pair = tuple[str, str]


def lines(name: str) -> list[dict]:
    with (SAMPLE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file)) if name.endswith(".csv") else [json.loads(line) for line in file if line]


def judgments(instrument: str) -> list[dict]:
    return [
        record | {"answer": json.loads(record["raw_response"])}
        for record in lines("judgments.jsonl")
        if record["instrument"] == instrument
    ]


@pytest.fixture(scope="module")
def labels() -> dict[Pair, dict[str, int]]:
    """Every pair's labels by annotator."""
    found: dict[Pair, dict[str, int]] = defaultdict(dict)
    for row in lines("annotations.csv"):
        if row["task"] == "repetition":
            found[row["argument_id"], row["nearest_argument_id"]][row["annotator"]] = int(row["label"])
    return found


@pytest.fixture(scope="module")
def settled(labels: dict[Pair, dict[str, int]]) -> dict[Pair, int]:
    """Where two annotators differ and nobody settled it, the lower label."""
    return {pair: min(by_annotator.values()) for pair, by_annotator in labels.items()}


@pytest.fixture(scope="module")
def weights() -> dict[Pair, float]:
    return {
        (row["argument_id"], row["nearest_argument_id"]): float(row["weight"])
        for row in lines("annotations.csv")
        if row["task"] == "repetition"
    }


def language_of(pair: Pair) -> str:
    return pair[0].split("-")[1]


def test_agreement_of_the_annotators(sample: Workplace, labels: dict[Pair, dict[str, int]]) -> None:
    found = {
        tuple(row[:3]): row[3]
        for row in sample.query(
            "select dimension, language, measure, estimate from marts.agreement "
            "where comparison = 'annotators' and dimension in ('label', 'repeated', 'strict')"
        )
    }
    for language in (None, "en", "zh"):
        both = np.array(
            [(by["r1"], by["r2"]) for pair, by in labels.items() if language in (None, language_of(pair))]
        ).T
        repeated = both >= 2
        expected = {
            ("label", "exact_agreement"): (both[0] == both[1]).mean(),
            ("label", "kappa"): cohen_kappa_score(*both),
            ("label", "kappa_linear"): cohen_kappa_score(*both, weights="linear"),
            ("label", "kappa_quadratic"): cohen_kappa_score(*both, weights="quadratic"),
            ("label", "alpha_ordinal"): krippendorff.alpha(both, level_of_measurement="ordinal"),
            ("label", "pearson"): pearsonr(*both).statistic,
            ("repeated", "kappa"): cohen_kappa_score(*repeated),
            ("repeated", "alpha_nominal"): krippendorff.alpha(repeated.astype(int), level_of_measurement="nominal"),
            ("strict", "kappa"): cohen_kappa_score(*(both == 3)),
        }
        for (dimension, measure), value in expected.items():
            assert found[dimension, language, measure] == pytest.approx(value, abs=1e-12), (language, measure)


def test_every_instrument_against_the_settled_labels(sample: Workplace, settled: dict[Pair, int]) -> None:
    values: dict[str, dict[Pair, float]] = {
        "sample-judge": {
            (j["argument_id"], j["nearest_argument_id"]): j["answer"]["label"] for j in judgments("pair_judge")
        }
    }
    for argument, nearest, scorer, score in sample.query(
        "select argument_id, nearest_argument_id, scorer, score from marts.pair_scores where field = 'claim'"
    ):
        if (argument, nearest) in settled:
            values.setdefault(scorer, {})[argument, nearest] = score
    assert set(values) == {"sample-judge", "chrf", ENCODER, "use-multilingual-v3"}
    found = {
        tuple(row[:3]): row[3:]
        for row in sample.query(
            "select instrument, language, measure, estimate, n_pairs from marts.instrument_alignment "
            "where field = 'claim'"
        )
    }
    for instrument, by_pair in values.items():
        for language in (None, "en", "zh"):
            pairs = [pair for pair in settled if language in (None, language_of(pair))]
            value, label = (np.array([side[pair] for pair in pairs]) for side in (by_pair, settled))
            expected = {
                "spearman": spearmanr(value, label).statistic,
                "auc_repeated": roc_auc_score(label >= 2, value),
                "auc_strict": roc_auc_score(label == 3, value),
            }
            for measure, theirs in expected.items():
                estimate, n_pairs = found[instrument, language, measure]
                assert estimate == pytest.approx(theirs, abs=1e-12), (instrument, language, measure)
                assert n_pairs == len(pairs)


def test_weighted_and_calibrated_rates(sample: Workplace, settled: dict[Pair, int], weights: dict[Pair, float]) -> None:
    population = sample.query(
        f"""
        select argument_id, nearest_argument_id, language, similarity from marts.max_prior_pairs
        where encoder = '{ENCODER}' and field = 'claim' and condition = 'baseline' and language in ('en', 'zh')
            and similarity is not null
        """
    )
    similarity = np.array([row[3] for row in population])
    bins = np.searchsorted(np.quantile(similarity, [0.2, 0.4, 0.6, 0.8]), similarity)
    language = np.array([row[2] for row in population])
    of_pair = {(row[0], row[1]): number for row, number in zip(population, bins, strict=True)}
    assert settled.keys() <= of_pair.keys()
    for collapse, lowest in (("repeated", 2), ("strict", 3)):
        in_bin = [[label >= lowest for pair, label in settled.items() if of_pair[pair] == b] for b in range(5)]
        curve = np.array([np.mean(positive) for positive in in_bin])
        calibrated, weighted = {}, {}
        for code in ("en", "zh"):
            share = np.bincount(bins[language == code], minlength=5) / (language == code).sum()
            calibrated[code] = float(share @ curve)
            pairs = [pair for pair in settled if language_of(pair) == code]
            weighted[code] = np.average(
                [settled[pair] >= lowest for pair in pairs], weights=[weights[pair] for pair in pairs]
            )
        for quantity, expected, of in (
            ("calibrated_rate", calibrated, f"encoder = '{ENCODER}' and field = 'claim'"),
            ("weighted_rate", weighted, "encoder is null"),
        ):
            found = {
                tuple(row[:2]): row[2]
                for row in sample.query(
                    f"select language, reference_language, estimate from marts.calibration "
                    f"where quantity = '{quantity}' and collapse = '{collapse}' and {of}"
                )
            }
            assert found == {
                ("en", None): pytest.approx(expected["en"], abs=1e-12),
                ("zh", None): pytest.approx(expected["zh"], abs=1e-12),
                ("zh", "en"): pytest.approx(expected["zh"] - expected["en"], abs=1e-12),
            }


def test_the_extraction_audit(sample: Workplace) -> None:
    turns: dict[tuple, list[dict]] = defaultdict(list)
    for row in lines("annotations.csv"):
        if row["task"] == "extraction":
            turns[row["session_id"], row["turn_index"]].append(row)
    for dimension in ("quality", "all_major_captured", "hallucination", "missing_major"):
        by_language = defaultdict(list)
        for (session, _), rows in turns.items():
            given = [float(row[dimension]) if dimension == "quality" else row[dimension] == "true" for row in rows]
            by_language[session.split("-")[1]].append(np.mean(given))
        found = dict(
            sample.query(
                f"select language || coalesce('-' || reference_language, ''), estimate "
                f"from marts.extraction_audit_rates where dimension = '{dimension}'"
            )
        )
        english, chinese = np.mean(by_language["en"]), np.mean(by_language["zh"])
        expected = {"en": english, "zh": chinese, "zh-en": chinese - english}
        assert found == {name: pytest.approx(value, abs=1e-12) for name, value in expected.items()}


def test_similarity_and_judged_quality(sample: Workplace) -> None:
    similarity = dict(
        sample.query(
            f"select session_id, agent_mean from marts.session_similarity "
            f"where encoder = '{ENCODER}' and field = 'claim' and variant = 'raw'"
        )
    )
    first = {j["session_id"]: j["answer"] for j in judgments("outcome") if j["round"] == 1}
    for dimension in ("argumentative_development", "engagement", "final_argument_quality", "overall_quality"):
        found = {
            tuple(row[:4]): row[4:]
            for row in sample.query(
                f"""
                select analysis, language, reference_language, condition, estimate, std_error, p_value
                from marts.outcome_associations
                where dimension = '{dimension}' and (encoder = '{ENCODER}' and field = 'claim' or encoder is null)
                """
            )
        }
        for code in ("en", "zh"):
            baseline = [s for s in first if s.split("-")[1:3] == [code, "baseline"]]
            rho = spearmanr([similarity[s] for s in baseline], [first[s][dimension] for s in baseline]).statistic
            assert found["spearman", code, None, "baseline"][0] == pytest.approx(rho, abs=1e-12)
        data = pd.DataFrame(
            {
                "score": [answer[dimension] for answer in first.values()],
                "similarity": [100 * similarity[s] for s in first],
                "motion": [s.split("-")[0] for s in first],
            }
        )
        groups = np.unique(data["motion"], return_inverse=True)[1]
        fit = smf.ols("score ~ similarity + C(motion)", data).fit(
            cov_type="cluster", cov_kwds={"groups": groups}, use_t=True
        )
        assert found["motion_fe_slope", None, None, None] == pytest.approx(
            (fit.params["similarity"], fit.bse["similarity"], fit.pvalues["similarity"]), rel=1e-6
        )
        effect = {
            code: np.mean(
                [
                    first[s.replace("baseline", "diversity")][dimension] - first[s][dimension]
                    for s in first
                    if s.split("-")[1:3] == [code, "baseline"]
                ]
            )
            for code in ("en", "zh")
        }
        for code in ("en", "zh"):
            assert found["condition_effect", code, None, "diversity"][0] == pytest.approx(effect[code])
        assert found["difference_in_differences", "zh", "en", "diversity"][0] == pytest.approx(
            effect["zh"] - effect["en"]
        )


def test_the_judge_against_itself(sample: Workplace) -> None:
    rounds: dict[int, dict[str, dict]] = {1: {}, 2: {}}
    for judgment in judgments("outcome"):
        rounds[judgment["round"]][judgment["session_id"]] = judgment["answer"]
    for dimension in ("argumentative_development", "engagement", "final_argument_quality", "overall_quality"):
        pairs = np.array([(rounds[1][s][dimension], rounds[2][s][dimension]) for s in rounds[2]]).T
        found = dict(
            sample.query(
                f"select measure, estimate from marts.agreement "
                f"where comparison = 'retest' and dimension = '{dimension}' and language is null"
            )
        )
        assert found["exact_agreement"] == pytest.approx((pairs[0] == pairs[1]).mean())
        assert found["pearson"] == pytest.approx(pearsonr(*pairs).statistic, abs=1e-12)


def test_functions_of_pairs(sample: Workplace) -> None:
    counts: dict[tuple, int] = defaultdict(int)
    for judgment in judgments("function"):
        for language in (judgment["argument_id"].split("-")[1], None):
            counts[judgment["answer"]["function"], language] += 1
    found = sample.query(
        "select function, language, n_with_function, estimate, n_pairs from reports.table_32 "
        "where judge = 'sample-judge'"
    )
    assert len(found) == 15
    for function, language, n, percent, n_pairs in found:
        assert n == counts[function, language]
        assert percent == pytest.approx(100 * n / n_pairs)
    assert {row[4] for row in found if row[1] is None} == {37}
