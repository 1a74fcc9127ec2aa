"""Contrasts on sets of motions: each set by itself, and all motions as in the whole study."""

import numpy as np
import pyarrow as pa
import pytest

from dagster_project.estimators.contrasts import estimate_contrasts
from dagster_project.estimators.subsets import SUBSET_GAP_ESTIMATES_SCHEMA, estimate_subsets
from tests.estimators.test_contrasts import CONDITION_EFFECT, LANGUAGE_GAP, SETTINGS, differences, mart


def in_set(name: str, contrasts: pa.Table) -> pa.Table:
    return contrasts.append_column("motion_set", pa.repeat(name, len(contrasts)))


def test_each_set_is_estimated_from_its_own_motions() -> None:
    everything = mart((LANGUAGE_GAP, differences(30)), (CONDITION_EFFECT, differences(30, seed=1)))
    some = mart((LANGUAGE_GAP, dict(list(differences(30).items())[:12])))
    found = estimate_subsets(pa.concat_tables([in_set("some", some), in_set("all", everything)]), **SETTINGS)
    assert found.schema.equals(SUBSET_GAP_ESTIMATES_SCHEMA)
    assert found["motion_set"].to_pylist() == ["all", "all", "some"]
    assert found.slice(0, 2).drop(["motion_set"]).equals(estimate_contrasts(everything, **SETTINGS))
    row = found.slice(2, 1).to_pylist()[0]
    assert row["n_motions"] == 12
    assert row["estimate"] == pytest.approx(np.mean(list(differences(30).values())[:12]))
    assert row["interval_status"] == "too_few_clusters"


def test_no_set_gives_no_estimate() -> None:
    empty = in_set("all", mart((LANGUAGE_GAP, differences(3)))).slice(0, 0)
    found = estimate_subsets(empty, **SETTINGS)
    assert (len(found), found.schema) == (0, SUBSET_GAP_ESTIMATES_SCHEMA)


def test_a_repeated_motion_of_a_set_is_refused() -> None:
    twice = in_set("all", mart((LANGUAGE_GAP, differences(3)), (LANGUAGE_GAP, differences(3))))
    with pytest.raises(ValueError, match="one row per contrast and motion"):
        estimate_subsets(twice, **SETTINGS)
